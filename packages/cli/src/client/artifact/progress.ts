import { describeBytes } from '../sizes.ts'

export interface Progress {
  add(bytes: number): void
  /** One file is complete. */
  finish(): void
  end(): void
}

const INTERVAL_MS = 100

/** One line on stderr that is written anew, if that is a terminal. */
export function openProgress(sizes: readonly number[], stream = process.stderr): Progress {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  let bytes = 0
  let files = 0
  const show = (): void => {
    const percent = total === 0 ? 100 : Math.floor((100 * bytes) / total)
    const text = `${files}/${sizes.length} files, ${describeBytes(bytes)} of ${describeBytes(total)}, ${percent} %`
    stream.write(`\r\u001b[K${text}`)
  }
  const timer = stream.isTTY ? setInterval(show, INTERVAL_MS) : undefined
  return {
    add: (more) => void (bytes += more),
    finish: () => void (files += 1),
    end() {
      if (timer === undefined) return
      clearInterval(timer)
      stream.write('\r\u001b[K')
    },
  }
}
