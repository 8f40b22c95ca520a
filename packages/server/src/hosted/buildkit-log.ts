// BuildKit reports progress in protocol buffers: started steps (vertices) and the output of their commands. This reads the
// few fields that a log needs.

/** Field numbers of moby.buildkit.v1.StatusResponse, Vertex and VertexLog. */
const response = { vertex: 1, log: 3 }
const vertex = { digest: 1, name: 3, cached: 4, started: 5 }
const vertexLog = { message: 4 }

type Fields = Map<number, Array<Buffer | bigint>>

/** Returns a function that converts each message into log text. It names every step once. */
export function buildkitLog(): (base64: string) => string {
  const named = new Set<string>()
  return (base64) => {
    const status = readFields(Buffer.from(base64, 'base64'))
    const steps = messages(status, response.vertex).map((step) => {
      const digest = text(step, vertex.digest)
      if (!step.has(vertex.started) || named.has(digest)) return ''
      named.add(digest)
      return `${text(step, vertex.name)}${step.get(vertex.cached)?.[0] === 1n ? ' (cached)' : ''}\n`
    })
    const output = messages(status, response.log).map((line) => text(line, vertexLog.message))
    return [...steps, ...output].join('')
  }
}

const messages = (fields: Fields, number: number): Fields[] =>
  (fields.get(number) ?? []).flatMap((value) => (Buffer.isBuffer(value) ? readFields(value) : []))

const text = (fields: Fields, number: number): string => {
  const value = fields.get(number)?.[0]
  return Buffer.isBuffer(value) ? value.toString('utf8') : ''
}

function readFields(bytes: Buffer): Fields {
  const fields: Fields = new Map()
  let at = 0
  const readVarint = (): bigint => {
    let [value, shift] = [0n, 0n]
    while (at < bytes.length) {
      const byte = bytes[at++] ?? 0
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) break
      shift += 7n
    }
    return value
  }
  const take = (length: number): Buffer => {
    const taken = bytes.subarray(at, at + length)
    at += length
    return taken
  }
  while (at < bytes.length) {
    const key = Number(readVarint())
    const readers: Record<number, () => Buffer | bigint> = {
      0: readVarint,
      1: () => take(8),
      2: () => take(Number(readVarint())),
      5: () => take(4),
    }
    const value = readers[key & 7]?.()
    // An unknown wire type: the rest cannot be parsed.
    if (value === undefined) break
    fields.set(key >> 3, [...(fields.get(key >> 3) ?? []), value])
  }
  return fields
}
