// Reads a pipeline file for the upload: interpolates variables and evaluates `if_changed`.

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { interpolateTree } from '@millrace/engine/interpolate.ts'
import type { Problem } from '@millrace/engine/problem.ts'
import { plainValue } from '@millrace/engine/source.ts'
import type { SourceNode } from '@millrace/engine/source.ts'
import { readPipelineTree } from '@millrace/engine/steps/document.ts'
import { formatProblem } from '@millrace/engine/steps/format-problem.ts'
import { resolveIfChanged } from '@millrace/engine/steps/attributes/if-changed.ts'
import { parseSource } from '@millrace/engine/yaml.ts'
import type { UploadedPipeline } from '@millrace/protocol/pipelines.ts'
import { Exit } from '../verb.ts'
import type { Io } from '../verb.ts'
import { listChangedFiles, resolveCommit } from './changed-files.ts'
import type { ChangeOptions } from './changed-files.ts'
import { normalizePipeline } from './normal-form.ts'

interface PipelineFile {
  name: string
  text: string
}

interface ReadPipelineOptions extends ChangeOptions {
  interpolates: boolean
}

const DEFAULT_FILES = ['buildkite', '.buildkite/pipeline', 'buildkite/pipeline'].flatMap((stem) =>
  ['yml', 'yaml', 'json'].map((extension) => `${stem}.${extension}`),
)
const MAX_BYTES = 8 * 1024 * 1024

/** The named file, standard input, or the one default file that exists. Several default files are refused. */
export async function openPipelineFile(io: Io, name: string | undefined): Promise<PipelineFile> {
  const input = name === '-' || (name === undefined && io.hasInput()) ? await io.readInput() : ''
  if (name === '-' || input.trim() !== '') return { name: '(stdin)', text: input }
  if (name !== undefined) {
    const text = await readFile(resolve(io.cwd, name), 'utf8').catch(() => {
      throw new Exit(1, `${name} cannot be read.`)
    })
    return { name, text }
  }
  const found = await Promise.all(
    DEFAULT_FILES.map(async (file) => {
      const text = await readFile(resolve(io.cwd, file), 'utf8').catch(() => null)
      return text === null ? [] : [{ name: file, text }]
    }),
  )
  const [first, second] = found.flat()
  if (!first) throw new Exit(1, `There is no pipeline file. Looked for ${DEFAULT_FILES.join(', ')}.`)
  if (second)
    throw new Exit(1, `There is more than one pipeline file: ${first.name} and ${second.name}. Name one.`)
  return first
}

export async function readUploads(
  io: Io,
  { name, text }: PipelineFile,
  options: ReadPipelineOptions,
): Promise<UploadedPipeline[]> {
  const parsed = parseSource(text, MAX_BYTES)
  if (!parsed.ok) throw refuse(name, text, parsed.problem)
  const lookup = await variables(io)
  const changed = /\bif_changed\b/.test(text) ? await listChangedFiles(io, options) : null
  return parsed.documents.map((tree) => {
    const filled = options.interpolates ? interpolateTree(tree, lookup) : { ok: true as const, tree }
    if (!filled.ok) throw refuse(name, text, filled.problem)
    const pipeline = normalizePipeline(plainValue(resolveIfChanged(filled.tree, changed)))
    if (pipeline === null) throw new Exit(1, `${name} holds no pipeline.`)
    return pipeline
  })
}

/** The problems of the file with their lines. The server sees only values, no lines. */
export function explainRefusal({ name, text }: PipelineFile): string[] {
  const parsed = parseSource(text, MAX_BYTES)
  const trees: readonly SourceNode[] = parsed.ok ? parsed.documents : []
  return trees.flatMap((tree) => {
    const read = readPipelineTree(tree, { origin: 'upload' })
    return read.ok ? [] : read.problems.map((problem) => formatProblem(name, text, problem))
  })
}

async function variables(io: Io): Promise<(name: string) => string | undefined> {
  const commit = io.env['BUILDKITE_COMMIT'] ?? ''
  const full = commit === '' ? null : await resolveCommit(io, commit)
  return (name) => (name === 'BUILDKITE_COMMIT' && full !== null ? full : io.env[name])
}

function refuse(name: string, text: string, problem: Problem): Exit {
  return new Exit(1, formatProblem(name, text, problem))
}
