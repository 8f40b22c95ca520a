// The output of a job's processes: one named pipe for standard output and error of all of them. It keeps the order of
// lines, allows opening `/dev/stderr`, and receives output of background processes.

import { randomBytes } from 'node:crypto'
import { closeSync, constants, openSync, unlinkSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { codeOf } from '../http/exchange.ts'

export interface OutputPipe {
  /** For the standard output and error of a process. */
  fd: number
  pause(): void
  resume(): void
  /** Resolves when everything written so far has been read. */
  drain(): Promise<void>
  close(): void
}

export function openPipe(path: string, onBytes: (bytes: Buffer) => void): OutputPipe {
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  // Our end must not block and the job's must, so the pipe is opened twice for writing.
  const own = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  const fd = openSync(path, constants.O_WRONLY)
  unlinkSync(path)

  const marks: Mark[] = []
  let carried: Buffer = Buffer.alloc(0)
  const socket = new Socket({ fd: reader, readable: true, writable: false })
  let isClosed = false
  // Nothing more can arrive.
  socket.on('close', () => {
    isClosed = true
    for (const { seen } of marks.splice(0)) seen()
  })
  socket.on('error', () => {})
  socket.on('data', (bytes: Buffer) => {
    let rest = carried.length === 0 ? bytes : Buffer.concat([carried, bytes])
    carried = Buffer.alloc(0)
    for (let mark = marks[0]; mark; mark = marks[0]) {
      if (!mark.isWritten) mark.isWritten = writeMark(own, mark.bytes)
      const at = rest.indexOf(mark.bytes)
      if (at < 0) break
      if (at > 0) onBytes(rest.subarray(0, at))
      rest = rest.subarray(at + mark.bytes.length)
      marks.shift()
      mark.seen()
    }
    const kept = marks[0] ? Math.min(rest.length, marks[0].bytes.length - 1) : 0
    carried = kept === 0 ? carried : Buffer.from(rest.subarray(rest.length - kept))
    if (rest.length > kept) onBytes(rest.subarray(0, rest.length - kept))
  })

  return {
    fd,
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    drain: () =>
      new Promise((seen) => {
        if (isClosed) {
          seen()
          return
        }
        const bytes = Buffer.concat([Buffer.from([0]), randomBytes(24), Buffer.from([0])])
        marks.push({ bytes, seen, isWritten: writeMark(own, bytes) })
      }),
    close() {
      socket.destroy()
      closeSync(own)
      closeSync(fd)
    },
  }
}

/** A marker in the stream: when it is read, all output before it has been read. */
interface Mark {
  bytes: Buffer
  seen: () => void
  isWritten: boolean
}

/** False if the pipe is full. */
function writeMark(fd: number, bytes: Buffer): boolean {
  try {
    writeSync(fd, bytes)
    return true
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return false
    throw error
  }
}
