import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

interface Digest {
  size: number
  sha1: string
  sha256: string
}

export async function digestFile(path: string): Promise<Digest> {
  const sha1 = createHash('sha1')
  const sha256 = createHash('sha256')
  let size = 0
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    size += bytes.length
    sha1.update(bytes)
    sha256.update(bytes)
  }
  return { size, sha1: sha1.digest('hex'), sha256: sha256.digest('hex') }
}
