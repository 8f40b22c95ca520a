// One JSON line per request and per event of note. Lines are written in batches, a tenth of a second late at most, and
// the rest when the process ends: writing each by itself costs as much as answering a small request.
import pino, { type Logger } from 'pino'

const flushEveryMs = 100
const batchBytes = 4096

export const openLog = (level: string, destination: number | string = 2): Logger =>
  pino(
    { level },
    pino.destination({
      dest: destination,
      sync: false,
      minLength: batchBytes,
      periodicFlush: flushEveryMs,
    }),
  )
