// Reads a form with one file: small fields first, then the file as a stream. The name of the file is ignored.
import { finished, type Readable } from 'node:stream'
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import { badRequest } from '../../../lib/errors.ts'

interface Form {
  fields: ReadonlyMap<string, string>
  /** To be read to its end. */
  file: AsyncIterable<Buffer>
}

const limits = { fields: 20, fieldSize: 16 * 1024, headerSize: 16 * 1024, files: 1 }

export async function readForm(contentType: string | undefined, body: Readable): Promise<Form> {
  const parser = openParser(contentType)
  const fields = new Map<string, string>()
  const file = await new Promise<BusboyFileStream>((resolve, reject) => {
    parser.on('field', (name, value, _isNameCut, isCut) => {
      if (isCut) reject(badRequest('The form cannot be read, or a field of it is too long.'))
      fields.set(name, value)
    })
    parser.on('file', (_name, found) => {
      // Errors reach the reader of the file; this listener keeps an early one from ending the process.
      found.on('error', () => {})
      finished(body, (error) => error && found.destroy(error))
      resolve(found)
    })
    parser.on('error', () => reject(cutShort()))
    parser.on('finish', () => reject(badRequest('The form has no file.')))
    finished(body, (error) => error && reject(error))
    body.pipe(parser)
  })
  return { fields, file: chunksOf(file) }
}

function openParser(contentType = ''): BusboyInstance {
  try {
    if (!/^multipart\/form-data\b/i.test(contentType)) throw new Error('This is not a form with files.')
    return new Busboy({ headers: { 'content-type': contentType }, limits })
  } catch {
    throw badRequest('Send a form: multipart/form-data with a boundary.')
  }
}

async function* chunksOf(file: BusboyFileStream): AsyncGenerator<Buffer> {
  try {
    yield* file as AsyncIterable<Buffer>
  } catch {
    throw cutShort()
  }
}

const cutShort = () => badRequest('The form is cut short.')
