// The log text of a soak's agents. Every byte is determined by the job and its position, so stored logs can be verified.
import { createHash } from 'node:crypto'

const noteOfLoss = /\r\n\[(\d+) bytes of this log were lost on their way here\]\r\n/g
const noteOfLostAgent = /\r\n\[The agent was lost while it ran this job: [^\]]*\]\r\n$/

/** Bytes `from` to before `to` of a job's log. No line looks like a note of the server. */
export function logText(jobId: string, from: number, to: number): Buffer {
  const key = createHash('sha256').update(jobId).digest('hex').slice(0, 16)
  const first = Math.floor(from / lineBytes)
  const last = Math.floor((to - 1) / lineBytes)
  const line = `${key} line 000000000 of what this job has to say....\n`
  const text = Buffer.alloc((last - first + 1) * lineBytes, line)
  for (let number = first; number <= last; number++) {
    writeNumber(number, text, (number - first) * lineBytes + line.indexOf(' of '))
  }
  return text.subarray(from - first * lineBytes, to - first * lineBytes)
}

const lineBytes = 64

/** Written over the zeros before `end`. */
function writeNumber(number: number, text: Buffer, end: number): void {
  for (let rest = number, at = end - 1; rest > 0; rest = Math.floor(rest / 10), at--)
    text[at] = 48 + (rest % 10)
}

/** The parts of a log without the server's notes, each with its position in the written log. */
export function partsOf(log: string): Array<{ from: number; text: string }> {
  const shown = log.replace(noteOfLostAgent, '')
  const parts: Array<{ from: number; text: string }> = []
  let position = 0
  let at = 0
  for (const note of shown.matchAll(noteOfLoss)) {
    parts.push({ from: position, text: shown.slice(at, note.index) })
    position += note.index - at + Number(note[1])
    at = note.index + note[0].length
  }
  parts.push({ from: position, text: shown.slice(at) })
  return parts
}
