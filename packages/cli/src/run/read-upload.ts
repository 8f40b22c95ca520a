import type { EnvLookup } from '@millrace/engine/expansion.ts'
import { interpolateTree } from '@millrace/engine/interpolate.ts'
import type { Problem } from '@millrace/engine/problem.ts'
import { DEFAULT_MAX_BYTES, readPipelineTree, type ReadPipelines } from '@millrace/engine/steps/document.ts'
import { resolveIfChanged } from '@millrace/engine/steps/attributes/if-changed.ts'
import type { PipelineDocument } from '@millrace/engine/steps/types.ts'
import { parseSource } from '@millrace/engine/yaml.ts'

interface UploadReading {
  /** null: variables are not interpolated. */
  lookup: EnvLookup | null
  /** Called only if a step depends on it. */
  findChangedPaths: () => Promise<string[] | null>
}

/** Interpolates variables, and evaluates `if_changed` with the checkout. */
export async function readUpload(
  text: string,
  { lookup, findChangedPaths }: UploadReading,
): Promise<ReadPipelines> {
  const parsed = parseSource(text, DEFAULT_MAX_BYTES)
  if (!parsed.ok) return { ok: false, problems: [parsed.problem] }
  const changedPaths = text.includes('if_changed') ? await findChangedPaths() : null
  const documents: PipelineDocument[] = []
  const problems: Problem[] = []
  const warnings: Problem[] = []
  for (const written of parsed.documents) {
    const filled = lookup === null ? { ok: true as const, tree: written } : interpolateTree(written, lookup)
    if (!filled.ok) {
      problems.push(filled.problem)
      continue
    }
    const read = readPipelineTree(resolveIfChanged(filled.tree, changedPaths), { origin: 'upload' })
    if (read.ok) {
      documents.push(read.document)
      warnings.push(...read.warnings)
    } else problems.push(...read.problems)
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, documents, warnings }
}
