// What the agents of a soak write into their logs: every byte follows from the job and its place, so that whatever
// was kept can be told from whatever should have been.
import { createHash } from 'node:crypto'

const noteOfLoss = /\r\n\[(\d+) bytes of this log were lost on their way here\]\r\n/g
const noteOfLostAgent = /\r\n\[The agent was lost while it ran this job: [^\]]*\]\r\n$/

/** Bytes `from` up to `to` of the log of a job. No line looks like a note of the server's. */
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

/** Over the zeros before `end`. */
function writeNumber(number: number, text: Buffer, end: number): void {
  for (let rest = number, at = end - 1; rest > 0; rest = Math.floor(rest / 10), at--)
    text[at] = 48 + (rest % 10)
}

/** The parts of a log as the server shows it, without the server's notes, each with its position in the written log. */
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
