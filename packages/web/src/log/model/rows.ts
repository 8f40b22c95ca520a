// Rows of a log as the server sends them, and as the page keeps them.
import { cellsOf } from './cells.ts'
import type { Group } from './groups.ts'

type WireRun = string | readonly [string, string] | readonly [string, string, string]
export type WireRow = readonly [number | null, ...WireRun[]]

export interface Run {
  text: string
  /** Style tokens, separated by spaces. */
  style: string
  link: string | null
  /** Shown behind a link whose text does not name its host, since such text could pretend to lead elsewhere. */
  host: string
}

export interface Row {
  time: number | null
  text: string
  runs: readonly Run[]
  /** The text with the hosts behind its links: what takes room. */
  shown: string
  cells: number
}

export function readRow([time, ...wire]: WireRow): Row {
  const runs = wire.map((run, at) => readRun(run, wire[at + 1]))
  const text = runs.map((run) => run.text).join('')
  const hasHosts = runs.some(({ host }) => host !== '')
  const shown = hasHosts ? runs.map((run) => run.text + run.host).join('') : text
  return { time, text, runs, shown, cells: cellsOf(shown) }
}

function readRun(run: WireRun, next: WireRun | undefined): Run {
  if (typeof run === 'string') return { text: run, style: '', link: null, host: '' }
  const [text, style, link] = run
  if (link === undefined || !isWebLink(link)) return { text, style, link: null, host: '' }
  const { host } = new URL(link)
  const isContinued = typeof next === 'object' && next[2] === link
  return { text, style, link, host: isContinued || text.toLowerCase().includes(host) ? '' : ` [${host}]` }
}

/** Other schemes could run script or open programs. */
export const isWebLink = (link: string): boolean => /^https?:\/\/[^/]/i.test(link) && URL.canParse(link)

type GroupStart = Pick<Group, 'kind' | 'name'>

/** A row like "--- Tests" begins a group. */
export function groupStartOf(text: string): GroupStart | null {
  const match = /^(---|\+\+\+|~~~) (.*)$/s.exec(text)
  if (match === null) return null
  return { kind: match[1] as GroupStart['kind'], name: (match[2] ?? '').trim() }
}

/** A row that opens the group it stands in, as failing commands write it. */
export const opensGroup = (text: string): boolean => text.startsWith('^^^ +++')
