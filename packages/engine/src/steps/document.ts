import type { EnvLookup } from '../expansion.ts'
import { interpolateTree } from '../interpolate.ts'
import { nearestName } from '../nearest-name.ts'
import type { Problem } from '../problem.ts'
import { describeNode, findEntry } from '../source.ts'
import type { SourceList, SourceMap, SourceNode } from '../source.ts'
import { parseSource } from '../yaml.ts'
import { NO_DEFAULTS, readDefaults } from './defaults.ts'
import type { Origin } from './attributes/if-changed.ts'
import { countJobs } from './job-count.ts'
import { checkKeys } from './keys.ts'
import type { PlacedStep } from './keys.ts'
import { readNotify } from './attributes/notify.ts'
import { createReport } from './report.ts'
import type { Report } from './report.ts'
import { readStep } from './step.ts'
import type { PipelineDocument, StepDefinition } from './types.ts'
import { isNull, readPairs, wrong } from './values.ts'

export interface ReadOptions {
  /** Steps stored with a pipeline, or uploaded by a job. */
  origin: Origin
  maxBytes: number
  /** Absent: variables are left as they are written. */
  interpolateWith?: EnvLookup
}

export type ReadPipeline =
  | { ok: true; document: PipelineDocument; warnings: Problem[] }
  | { ok: false; problems: Problem[] }

export type ReadPipelines =
  | { ok: true; documents: PipelineDocument[]; warnings: Problem[] }
  | { ok: false; problems: Problem[] }

export const DEFAULT_MAX_BYTES = 1024 * 1024
const START = { line: 1, column: 1 }
/** The limits of an upload and of a build. */
const MAX_JOBS: Readonly<Record<Origin, number>> = { upload: 500, stored: 4000 }

/** Reads text that holds one pipeline. */
export function readPipeline(text: string, options: ReadOptions): ReadPipeline {
  const parsed = parseSource(text, options.maxBytes)
  if (!parsed.ok) return { ok: false, problems: [parsed.problem] }
  const [tree, second] = parsed.documents
  if (!tree || second) {
    const at = { line: second?.line ?? 1, column: second?.column ?? 1 }
    const message = `the text holds ${parsed.documents.length} documents, where one is expected`
    return { ok: false, problems: [{ message, step: null, ...at }] }
  }
  return readPipelineTree(tree, options)
}

/** Reads text that may hold several pipelines separated by `---`. All must be right for any to be accepted. */
export function readPipelines(text: string, options: ReadOptions): ReadPipelines {
  const parsed = parseSource(text, options.maxBytes)
  if (!parsed.ok) return { ok: false, problems: [parsed.problem] }
  const documents: PipelineDocument[] = []
  const problems: Problem[] = []
  const warnings: Problem[] = []
  for (const tree of parsed.documents) {
    const read = readPipelineTree(tree, options)
    if (read.ok) {
      documents.push(read.document)
      warnings.push(...read.warnings)
    } else problems.push(...read.problems)
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, documents, warnings }
}

/** Reads a document that was parsed already, as `parseSource` or `sourceFromValue` return it. */
export function readPipelineTree(
  source: SourceNode,
  options: Pick<ReadOptions, 'origin' | 'interpolateWith'>,
): ReadPipeline {
  const filled = options.interpolateWith ? interpolateTree(source, options.interpolateWith) : null
  if (filled && !filled.ok) return { ok: false, problems: [filled.problem] }
  const { report, findings } = createReport()
  const document = readRoot(filled?.tree ?? source, options.origin, report)
  if (findings.problems.length > 0) return { ok: false, problems: inReadingOrder(findings.problems) }
  return { ok: true, document, warnings: findings.warnings }
}

function inReadingOrder(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((a, b) => a.line - b.line || a.column - b.column)
}

function readRoot(root: SourceNode, origin: Origin, report: Report): PipelineDocument {
  if (root.kind === 'list') return { env: [], notify: [], steps: readSteps(root, null, origin, report) }
  if (root.kind === 'scalar') {
    const what = root.value === null ? 'the pipeline is empty' : `a pipeline cannot be ${describeNode(root)}`
    report.problem(root, what, { expected: 'a map with `steps`, or a list of steps' })
    return { env: [], notify: [], steps: [] }
  }
  return {
    env: readPairs(findEntry(root, 'env'), report),
    notify: readNotify(findEntry(root, 'notify'), 'build', report),
    steps: readSteps(findEntry(root, 'steps')?.value, root, origin, report),
  }
}

function readSteps(
  list: SourceNode | undefined,
  root: SourceMap | null,
  origin: Origin,
  report: Report,
): StepDefinition[] {
  const defaults = root ? readDefaults(root, report) : NO_DEFAULTS
  if (!list || isNull(list)) {
    const near = root?.entries.find(({ key }) => key !== 'steps' && nearestName(key, ['steps']))
    report.warning(near ?? root ?? START, 'the pipeline has no steps', { suggestion: near ? 'steps' : null })
    return []
  }
  if (list.kind !== 'list') {
    wrong({ key: 'steps', value: list, line: list.line, column: list.column }, 'a list', report)
    return []
  }
  if (list.items.length === 0) report.warning(list, 'the pipeline has no steps')
  if (countItems(list) > MAX_JOBS[origin]) {
    reportTooMany(list, countItems(list), origin, report)
    return []
  }
  const placed: PlacedStep[] = []
  const context = { defaults, origin, report, placed }
  const steps = list.items.flatMap((item, index) => readStep(item, String(index + 1), context))
  checkKeys(placed, report)
  const jobs = countJobs(steps)
  if (jobs > MAX_JOBS[origin]) reportTooMany(list, jobs, origin, report)
  return steps
}

/** Each becomes a job at least: enough to refuse an endless list before reading it. */
function countItems(list: SourceList): number {
  return list.items.reduce((count, item) => {
    const inner = item.kind === 'map' ? findEntry(item, 'steps')?.value : undefined
    return count + (inner?.kind === 'list' ? inner.items.length : 1)
  }, 0)
}

function reportTooMany(list: SourceList, jobs: number, origin: Origin, report: Report): void {
  report.problem(list, `the steps make ${jobs} jobs`, { expected: `at most ${MAX_JOBS[origin]}` })
}
