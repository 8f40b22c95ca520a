// The way from the database into this process. A socket hands on a new piece of memory with each read, and the driver's
// reader takes more for a row that comes in several: an answer of half a megabyte leaves four behind, for the collector
// to find. This one reads into the same memory again and again, and hands on whole messages, which the reader keeps
// nothing of.
import { Socket, type ConnectOpts, type SocketConstructorOpts } from 'node:net'

const readSize = 64 * 1024
/** What a longer message needed is not kept for the next. */
const mostKept = 1024 * 1024

/** As the driver asks for one. Under TLS the bytes that arrive are not messages yet. */
export function databaseSocket({ ssl }: { ssl?: unknown } = {}): Socket {
  if (ssl) return new Socket()
  const messages = new WholeMessages()
  const memory = Buffer.allocUnsafe(readSize)
  const options: SocketConstructorOpts & ConnectOpts = {
    onread: {
      buffer: memory,
      callback(size) {
        messages.read(memory.subarray(0, size), (whole) => socket.emit('data', whole))
        return true
      },
    },
  }
  const socket = new Socket(options)
  return socket
}

/** Keeps the beginning of a message until its end has come. */
export class WholeMessages {
  private kept = Buffer.alloc(0)
  private size = 0

  /** `use` is called at most once, and what it is given holds only until it returns. */
  read(bytes: Buffer, use: (messages: Buffer) => void): void {
    const all = this.size === 0 ? bytes : this.append(bytes)
    const end = endOfWhole(all)
    if (end > 0) use(all.subarray(0, end))
    // A long message that is still coming stays where it is.
    if (end === 0 && this.size > 0) this.size = all.length
    else this.keep(all, end)
  }

  private append(bytes: Buffer): Buffer {
    const size = this.size + bytes.length
    if (size > this.kept.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.kept.length, size))
      this.kept.copy(larger, 0, 0, this.size)
      this.kept = larger
    }
    bytes.copy(this.kept, this.size)
    return this.kept.subarray(0, size)
  }

  private keep(all: Buffer, from: number): void {
    const rest = all.subarray(from)
    if (rest.length === 0 && this.kept.length > mostKept) this.kept = Buffer.alloc(0)
    this.size = 0
    // In its own memory they may overlap, which copying allows.
    if (rest.length > 0) this.size = this.append(rest).length
  }
}

/** A message is one byte for its kind and four for its length, which counts itself and what follows. */
function endOfWhole(bytes: Buffer): number {
  let end = 0
  while (end + 5 <= bytes.length) {
    const next = end + 1 + bytes.readUInt32BE(end + 1)
    if (next > bytes.length) break
    end = next
  }
  return end
}
