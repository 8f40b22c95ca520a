// How hits are shown: the job once, and its rows below it.
import type { LogSearchHit, LogSearchProgress } from '@millrace/server/wire.ts'
import type { Style } from '../style.ts'
import { oneLine, printable } from '../text.ts'
import { describeAge } from '../times.ts'

export interface Search {
  hits: LogSearchHit[]
  /** Of all requests together; null: none has answered. */
  progress: LogSearchProgress | null
  /** Where to go on. */
  cursor: string | null
  /** Nothing is left. */
  complete: boolean
}

/** The lines of the newest hit. */
export function describeHit(hits: readonly LogSearchHit[], style: Style): string[] {
  const [before, hit] = [hits.at(-2), hits.at(-1)]
  if (hit === undefined) return []
  const isSameJob = before?.job.id === hit.job.id
  return isSameJob ? [describeRow(hit, style)] : [...describeJob(hit, style), describeRow(hit, style)]
}

function describeJob({ build, job }: LogSearchHit, style: Style): string[] {
  const title = style.bold(`${oneLine(build.pipeline_slug)}/${build.number}`)
  const facts = [
    oneLine(job.name ?? job.step_key ?? 'a job'),
    oneLine(job.state),
    oneLine(build.branch),
    describeAge(build.created_at),
  ]
  return ['', `${title}  ${facts.join(', ')}`, `  ${style.dim(job.web_url)}`]
}

/** The number of a row, or what else said it. */
function describePlace({ kind, row, annotation, test }: LogSearchHit): string {
  switch (kind) {
    case 'log':
      return String(row)
    case 'annotation':
      return `annotation ${oneLine(annotation?.context ?? '')}`
    case 'test_failure':
      return `test failure ${oneLine(test?.name ?? '')}`
  }
}

function describeRow(hit: LogSearchHit, style: Style): string {
  const { text, start, end } = hit
  const part = (from: number, to?: number) => printable(text.slice(from, to)).replaceAll('\n', ' ')
  const match = style.paint('red', style.bold(part(start, end)))
  return `  ${style.dim(`${describePlace(hit)}:`)} ${part(0, start)}${match}${part(end)}`
}

/** Such as `2 rows found, searched 812 of 1,200 logs`. */
export function describeProgress({ hits, progress, cursor }: Search): string {
  const found = `${countOf(hits.length)} ${hits.length === 1 ? 'row' : 'rows'} found`
  if (progress === null) return found
  const total = `${countOf(progress.total)}${progress.is_total_exact ? '' : ' or more'}`
  const rest = cursor === null ? '' : ', and there may be more: raise --limit'
  return `${found}, searched ${countOf(progress.searched)} of ${total} logs${rest}`
}

const countOf = (count: number): string => count.toLocaleString('en-US')
