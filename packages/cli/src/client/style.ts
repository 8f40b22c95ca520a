// Colors, and the icon and word of each state. Output has no colors with NO_COLOR, --no-color, TERM=dumb or a pipe, unless
// FORCE_COLOR is set. The codes of five colors are shorter than the use of a library, and Node's styleText needs Node 20.12.

type Color = 'red' | 'green' | 'yellow' | 'blue' | 'gray'

export interface Style {
  hasColor: boolean
  bold(text: string): string
  dim(text: string): string
  paint(color: Color, text: string): string
}

interface Stream {
  isTTY?: boolean
}

const CODES: Readonly<Record<Color, number>> = { red: 31, green: 32, yellow: 33, blue: 34, gray: 90 }

export function openStyle(
  { color }: { color: boolean },
  stream: Stream = process.stdout,
  env: NodeJS.ProcessEnv = process.env,
): Style {
  const hasColor = color && allowsColor(stream, env)
  const wrap = (open: number, close: number) => (text: string) =>
    hasColor && text !== '' ? `\u001b[${open}m${text}\u001b[${close}m` : text
  return {
    hasColor,
    bold: wrap(1, 22),
    dim: wrap(2, 22),
    paint: (name, text) => wrap(CODES[name], 39)(text),
  }
}

function allowsColor({ isTTY }: Stream, env: NodeJS.ProcessEnv): boolean {
  if (env['NO_COLOR']) return false
  if (env['FORCE_COLOR'] && env['FORCE_COLOR'] !== '0') return true
  return isTTY === true && env['TERM'] !== 'dumb'
}

interface Appearance {
  icon: string
  color: Color
  /** Where the word differs from the state's name. */
  word?: string
}

const passed: Appearance = { icon: '✓', color: 'green' }
const failed: Appearance = { icon: '✗', color: 'red' }
const active: Appearance = { icon: '●', color: 'blue' }
const waiting: Appearance = { icon: '○', color: 'gray' }
const stopped: Appearance = { icon: '⊘', color: 'gray' }
const held: Appearance = { icon: '‖', color: 'yellow' }

/** States of builds, jobs, agents and queues. */
const APPEARANCES: Readonly<Record<string, Appearance>> = {
  passed,
  finished: passed,
  unblocked: { ...passed, word: 'unblocked' },
  connected: passed,
  failed,
  failing: { ...active, color: 'red' },
  timed_out: { ...failed, word: 'timed out' },
  timing_out: { ...active, color: 'red', word: 'timing out' },
  waiting_failed: { ...stopped, word: 'not run' },
  blocked_failed: { ...stopped, word: 'not run' },
  unblocked_failed: { ...stopped, word: 'not run' },
  expired: { ...failed, word: 'expired' },
  lost: { ...failed, word: 'lost' },
  running: active,
  assigned: active,
  accepted: active,
  starting: active,
  scheduled: waiting,
  creating: waiting,
  pending: waiting,
  waiting,
  limited: waiting,
  limiting: waiting,
  reserved: waiting,
  blocked: held,
  paused: held,
  canceling: { ...stopped, color: 'yellow' },
  stopping: { ...stopped, color: 'yellow' },
  canceled: stopped,
  skipped: stopped,
  not_run: { ...stopped, word: 'not run' },
  broken: { ...stopped, word: 'skipped' },
  stopped,
  disconnected: stopped,
}

/** Icon and word, such as `✓ passed`. */
export function stateText(style: Style, state: string): string {
  const appearance = APPEARANCES[state]
  if (appearance === undefined) return `• ${state.replaceAll('_', ' ')}`
  return style.paint(appearance.color, `${appearance.icon} ${appearance.word ?? state.replaceAll('_', ' ')}`)
}
