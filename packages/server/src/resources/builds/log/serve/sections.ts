// Sections of a log begin with a line like "--- Tests". The agent reports their times beside the output, or as a time code
// before the line.

const mostSections = 10_000
/** The part of a line that is looked at. */
const mostOfLine = 512

const timeCode = /\x1b_bk;t=(\d{1,15})\x07/
const lineStart = /^(?:\x1b_bk;t=\d{1,15}\x07|\x1b\[[\d;]*[A-Za-z]|\r)*(?<header>(?:---|\+\+\+|~~~) )?/

export interface SectionTimes {
  push(text: string): void
  /** Nanoseconds since 1970 as text, since a number cannot hold them exactly. */
  end(reported: Record<string, string>): string[]
}

export function sectionTimes(): SectionTimes {
  const times: Array<number | null> = []
  let line = ''
  const look = () => {
    const match = lineStart.exec(line)
    if (match?.groups?.['header'] === undefined || times.length === mostSections) return
    const time = timeCode.exec(match[0])?.[1]
    times.push(time === undefined ? null : Number(time))
  }
  return {
    push(text) {
      for (let start = 0; start < text.length;) {
        const newline = text.indexOf('\n', start)
        const end = newline === -1 ? text.length : newline
        if (line.length < mostOfLine) line += text.slice(start, Math.min(end, start + mostOfLine))
        if (newline !== -1) {
          look()
          line = ''
        }
        start = end + 1
      }
    },
    end(reported) {
      look()
      line = ''
      let latest = '0'
      return times.map((time, index) => {
        latest = nanoseconds(reported[index]) ?? (time === null ? latest : `${time}000000`)
        return latest
      })
    },
  }
}

/** RFC 3339 with up to nine digits behind the seconds; null for what is no time. */
export function nanoseconds(time: string | undefined): string | null {
  const [, seconds, fraction = '', zone] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(time ?? '') ?? []
  const ms = Date.parse(`${seconds}${zone}`)
  return Number.isNaN(ms) ? null : `${ms / 1000}${fraction.padEnd(9, '0')}`
}
