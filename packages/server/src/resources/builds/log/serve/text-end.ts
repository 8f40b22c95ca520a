// The last bytes of a growing log, for the streams that follow its text.
import type { Log } from '../source.ts'
import type { LogEnd } from './feed.ts'

const heldBytes = 128 * 1024
/** So much of one poll is held for streams that knew everything before it. */
const mostNewBytes = 4 * 1024 * 1024

export class TextEnd implements LogEnd {
  private pieces: Array<{ start: number; bytes: Buffer }> = []
  private until: number | null = null

  get offset(): number | null {
    return this.until
  }

  /** Where the held bytes begin. */
  get start(): number {
    return this.pieces[0]?.start ?? this.until ?? 0
  }

  async grow(log: Log): Promise<boolean> {
    this.forget(heldBytes)
    let position = this.until ?? Math.max(log.size - heldBytes, 0)
    const isNew = this.until === null || log.size > position
    for await (const bytes of log.read(position, log.size)) {
      if (bytes.length === 0) continue
      this.pieces.push({ start: position, bytes })
      position += bytes.length
      this.until = position
      this.forget(mostNewBytes)
    }
    this.until = position
    return isNew
  }

  /** At most `most` of the bytes that are held from `position` on. */
  bytesFrom(position: number, most: number): Buffer {
    const parts: Buffer[] = []
    let size = 0
    for (const { start, bytes } of this.pieces) {
      if (size >= most || start + bytes.length <= position) continue
      const part = bytes.subarray(Math.max(position - start, 0)).subarray(0, most - size)
      parts.push(part)
      size += part.length
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)
  }

  private forget(most: number): void {
    const until = this.until ?? 0
    const first = this.pieces.findIndex(({ start, bytes }) => start + bytes.length > until - most)
    if (first > 0) this.pieces.splice(0, first)
  }
}
