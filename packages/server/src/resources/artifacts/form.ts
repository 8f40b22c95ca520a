// Reads a form with one file in it, piece by piece: small fields first, then the file. The file's own name is never
// looked at.
import { badRequest } from '../../lib/errors.ts'

export interface Form {
  fields: ReadonlyMap<string, string>
  /** To be read to its end. */
  file: AsyncGenerator<Buffer>
}

const mostFields = 20
const mostFieldBytes = 16 * 1024

export async function readForm(contentType: string | undefined, body: AsyncIterable<Buffer>): Promise<Form> {
  const match = /^multipart\/form-data\b.*?;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(
    contentType ?? '',
  )
  const boundary = match?.[1] ?? match?.[2]
  if (boundary === undefined) throw badRequest('Send a form: multipart/form-data with a boundary.')
  const reader = new PieceReader(body)
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const fields = new Map<string, string>()
  // The first delimiter has no line before it.
  await reader.textUntil(delimiter.subarray(2), 0)
  while (fields.size <= mostFields) {
    if ((await reader.textUntil(Buffer.from('\r\n'), 2)) !== '') break
    const headers = await reader.textUntil(Buffer.from('\r\n\r\n'), mostFieldBytes)
    const [, name] = /^content-disposition:\s*form-data\b[^\r\n]*?;\s*name="([^"]*)"/im.exec(headers) ?? []
    if (name === undefined) throw badRequest('A part of the form has no name.')
    if (/^content-disposition:[^\r\n]*;\s*filename\*?=/im.test(headers)) {
      return { fields, file: reader.piecesUntil(delimiter) }
    }
    fields.set(name, await reader.textUntil(delimiter, mostFieldBytes))
  }
  throw badRequest('The form has no file.')
}

class PieceReader {
  #pieces: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(body: AsyncIterable<Buffer>) {
    this.#pieces = body[Symbol.asyncIterator]()
  }

  /** What comes before the end mark, which is at most so many bytes away. */
  async textUntil(end: Buffer, mostBytes: number): Promise<string> {
    for (;;) {
      const at = this.#rest.indexOf(end)
      if (at > mostBytes || (at === -1 && this.#rest.length > mostBytes + end.length)) {
        throw badRequest('The form cannot be read, or a field of it is too long.')
      }
      if (at !== -1) {
        const text = this.#rest.toString('utf8', 0, at)
        this.#rest = this.#rest.subarray(at + end.length)
        return text
      }
      await this.#more()
    }
  }

  async *piecesUntil(end: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#rest.indexOf(end)
      if (at !== -1) {
        if (at > 0) yield this.#rest.subarray(0, at)
        this.#rest = this.#rest.subarray(at + end.length)
        return
      }
      // The end mark may have begun in the last bytes.
      const safe = this.#rest.length - end.length + 1
      if (safe > 0) {
        yield this.#rest.subarray(0, safe)
        this.#rest = this.#rest.subarray(safe)
      }
      await this.#more()
    }
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#pieces.next()
    if (done) throw badRequest('The form is cut short.')
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value])
  }
}
