// Where a watched build is shown: in a terminal, as lines of text, or as lines of JSON.
import { openStyle, stateText, type Style } from '../style.ts'
import { oneLine } from '../text.ts'
import { describeDuration } from '../times.ts'
import { isMarker, plainRow, styledRow } from '../log-rows.ts'
import type { Excerpt } from './excerpt.ts'
import { hasEnded, type ShortBuild, type WatchedJob } from './graph.ts'
import { layOut } from './layout.ts'
import { LiveArea } from './live-area.ts'
import type { Change, WatchedBuild } from './model.ts'
import { changeJson, describeChange, excerptJson } from './reports.ts'

export interface WatchScreen {
  open(watched: WatchedBuild): void
  change(watched: WatchedBuild, changes: readonly Change[]): void
  /** A job failed. `excerpt` is null if its log cannot be shown. */
  fail(watched: WatchedBuild, job: WatchedJob, excerpt: Excerpt | null): void
  /** A step waits for a person. `command` unblocks it. */
  block(watched: WatchedBuild, job: WatchedJob, command: string): void
  problem(text: string | null): void
  /** A line about what the command itself does. */
  say(text: string): void
  /** `exitCode` is null if the user does not want to watch any longer. */
  close(exitCode: number | null): void
}

interface Options {
  json?: true
  color: boolean
}

/** What a command says of the end of watching. */
interface Ending {
  /** What Ctrl-C does. */
  interrupt: string
  /** After Ctrl-C, while the build goes on; null: it does not. */
  goesOn: string | null
  /** After a failure. */
  failed: string
}

export function openScreen(options: Options, ending: Ending): WatchScreen {
  if (options.json) return jsonScreen((value) => void process.stdout.write(`${JSON.stringify(value)}\n`))
  const style = openStyle(options)
  const { stdout } = process
  if (!stdout.isTTY || process.env['TERM'] === 'dumb') {
    return lineScreen((line) => void stdout.write(`${line}\n`), style, ending)
  }
  return terminalScreen(stdout, style, ending)
}

function jsonScreen(print: (value: object) => void): WatchScreen {
  let shown: WatchedBuild | null = null
  return {
    open: (watched) => void (shown = watched),
    change(watched, changes) {
      for (const change of changes) print(changeJson(watched, change))
    },
    fail(watched, job, excerpt) {
      if (excerpt !== null) print(excerptJson(watched, job, excerpt))
    },
    block: (watched, job, command) =>
      print({ type: 'blocked', job_id: job.id, name: watched.nameOfJob(job), command }),
    problem: (text) => print({ type: 'connection', connected: text === null, problem: text }),
    say: (text) => print({ type: 'note', text }),
    close: (exitCode) =>
      print({
        type: 'end',
        state: shown?.build.state ?? null,
        blocked: shown?.build.blocked ?? null,
        exit_code: exitCode,
      }),
  }
}

function lineScreen(print: (line: string) => void, style: Style, ending: Ending): WatchScreen {
  let shown: WatchedBuild | null = null
  return {
    open(watched) {
      shown = watched
      print(titleOf(watched.build))
    },
    change(watched, changes) {
      for (const change of changes) {
        const line = describeChange(watched, change)
        if (line !== null) print(line)
      }
    },
    fail(watched, job, excerpt) {
      for (const line of excerptLines(watched, job, excerpt, style)) print(line)
    },
    block: (watched, job, command) => print(`${watched.nameOfJob(job)}: unblock it with ${command}`),
    problem: (text) => print(text === null ? 'The connection is back.' : oneLine(text)),
    say: print,
    close(exitCode) {
      for (const line of lastLines(shown, exitCode, ending)) print(line)
    },
  }
}

const FRAME_MS = 200
const TICK_MS = 1000

interface TerminalOutput {
  columns: number
  rows: number
  write(text: string): unknown
  on(event: 'resize', listener: () => void): unknown
  off(event: 'resize', listener: () => void): unknown
}

function terminalScreen(output: TerminalOutput, style: Style, ending: Ending): WatchScreen {
  const area = new LiveArea({
    get columns() {
      return output.columns
    },
    write: (text) => void output.write(text),
  })
  let shown: WatchedBuild | null = null
  let problem: string | null = null
  let interrupt: string | null = ending.interrupt
  let above: string[] = []
  let frame: NodeJS.Timeout | null = null
  const draw = (): void => {
    frame = null
    const lines = above
    above = []
    const { columns: width, rows } = output
    const options = { width, height: Math.max(1, rows - 1), now: Date.now(), style, problem, interrupt }
    area.update(lines, shown === null ? [] : layOut(shown, options))
  }
  /** Few frames a second, however much changes. */
  const drawSoon = (): void => {
    frame ??= setTimeout(draw, FRAME_MS)
  }
  const tick = setInterval(drawSoon, TICK_MS)
  output.on('resize', drawSoon)
  return {
    open(watched) {
      shown = watched
      drawSoon()
    },
    change: drawSoon,
    fail(watched, job, excerpt) {
      above.push(...excerptLines(watched, job, excerpt, style))
      drawSoon()
    },
    block(watched, job, command) {
      above.push(
        `${stateText(style, 'blocked')}  ${watched.nameOfJob(job)}: unblock it with ${style.bold(command)}`,
      )
      drawSoon()
    },
    problem(text) {
      problem = text
      drawSoon()
    },
    say(text) {
      above.push(text)
      drawSoon()
    },
    close(exitCode) {
      clearInterval(tick)
      if (frame !== null) clearTimeout(frame)
      output.off('resize', drawSoon)
      interrupt = null
      draw()
      area.close('keep')
      output.write(
        lastLines(shown, exitCode, ending)
          .map((line) => `${line}\n`)
          .join(''),
      )
    },
  }
}

function titleOf({ number, pipeline_slug: pipeline, branch, commit, message }: ShortBuild): string {
  const text = oneLine((message ?? '').split('\n')[0] ?? '')
  const revision = `${oneLine(pipeline)}, ${oneLine(branch)} at ${oneLine(commit).slice(0, 12)}`
  return `build #${number} of ${revision}${text === '' ? '' : `: ${text}`}`
}

function excerptLines(
  watched: WatchedBuild,
  job: WatchedJob,
  excerpt: Excerpt | null,
  style: Style,
): string[] {
  const reason = job.note === null ? '' : ` (${oneLine(job.note)})`
  const command = `millrace job log ${job.id}`
  const head = `${style.paint('red', '✗')} ${style.bold(watched.nameOfJob(job))} ${job.state.replaceAll('_', ' ')}${reason}`
  if (excerpt === null) return [head]
  const render = style.hasColor ? styledRow : plainRow
  return [
    head,
    ...(excerpt.group === null ? [] : [`  ${style.dim(excerpt.group)}`]),
    ...excerpt.rows.filter((row) => !isMarker(row)).map((row) => `  | ${render(row)}`),
    `  ${style.dim(`The whole log: ${command}`)}`,
  ]
}

function lastLines(watched: WatchedBuild | null, exitCode: number | null, ending: Ending): string[] {
  if (watched === null) return []
  const { build } = watched
  if (exitCode === null && !hasEnded(build)) {
    return ending.goesOn === null ? [] : [ending.goesOn]
  }
  if (!hasEnded(build)) return []
  const time =
    build.started_at === null || build.finished_at === null
      ? ''
      : ` after ${describeDuration(build.finished_at - build.started_at)}`
  const end = `Build #${build.number} ${ENDS[build.state] ?? `is ${build.state}`}${time}.`
  if (build.state !== 'failed') return [end]
  return [`${end} ${ending.failed}`]
}

const ENDS: Readonly<Record<string, string>> = {
  passed: 'passed',
  failed: 'failed',
  canceled: 'was canceled',
  skipped: 'was skipped',
  not_run: 'had nothing to run',
}
