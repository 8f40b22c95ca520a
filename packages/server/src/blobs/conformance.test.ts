// The contract of all blob stores, tested on each of them. `npm run conformance:s3` tests it on a third-party S3 server.
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aBucket, type Bucket } from '../../../../testbed/src/bucket.ts'
import { signatureOf } from '../../../../testbed/src/s3-server.ts'
import { readConfig } from '../config/config.ts'
import { ApiError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { diskStore } from './disk.ts'
import { openBlobs } from './open.ts'
import { s3Store } from './s3.ts'
import { SizeMismatch, type BlobStore } from './store.ts'

let root: string
let bucket: Bucket
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'blobs-'))
  bucket = await aBucket()
})
afterAll(async () => {
  await bucket.close()
  await rm(root, { recursive: true })
})

const s3Settings = () =>
  ({
    kind: 's3',
    bucket: bucket.name,
    prefix: 'some/where/',
    region: bucket.region,
    endpoint: bucket.endpoint,
    direct: true,
  }) as const
const s3Keys = () => ({ ...bucket.credentials, sessionToken: undefined })
const stores: Array<{ name: string; open: () => BlobStore }> = [
  { name: 'disk', open: () => diskStore(root) },
  { name: 'S3', open: () => s3Store(s3Settings(), s3Keys()) },
]

const aKey = () => `artifacts/${newId()}`
const bodyOf = (...pieces: Array<Buffer | string>) => Readable.from(pieces.map((piece) => Buffer.from(piece)))

describe.each(stores)('the $name store', ({ open }) => {
  const read = async (key: string, range?: { start: number; end: number }) => {
    const stream = await open().get(key, range)
    return stream === null ? null : buffer(stream)
  }

  it('returns the stored object, also an empty one', async () => {
    const [key, empty] = [aKey(), aKey()]
    await open().put(key, bodyOf('one ', 'two'), 7)
    await open().put(empty, bodyOf(), 0)
    expect(String(await read(key))).toBe('one two')
    expect(await open().head(key)).toEqual({ size: 7 })
    expect(await read(empty)).toHaveLength(0)
    expect(await open().head(empty)).toEqual({ size: 0 })
  })

  it('returns null for a key that was never stored or is deleted', async () => {
    const key = aKey()
    expect([await read(key), await open().head(key)]).toEqual([null, null])
    await open().put(key, bodyOf('x'), 1)
    await open().delete(key)
    await open().delete(key)
    expect([await read(key), await open().head(key)]).toEqual([null, null])
  })

  it('returns a range of bytes, both ends included', async () => {
    const key = aKey()
    await open().put(key, bodyOf('0123456789'), 10)
    expect(String(await read(key, { start: 3, end: 5 }))).toBe('345')
    expect(String(await read(key, { start: 9, end: 9 }))).toBe('9')
  })

  it('replaces an object as a whole', async () => {
    const key = aKey()
    await open().put(key, bodyOf('the first, longer'), 17)
    await open().put(key, bodyOf('second'), 6)
    expect(String(await read(key))).toBe('second')
  })

  it.each([3, 5])('stores nothing of a body that does not have the announced %i bytes', async (size) => {
    const key = aKey()
    await expect(open().put(key, bodyOf('four'), size)).rejects.toThrow(SizeMismatch)
    expect(await open().head(key)).toBeNull()
  })

  it('stores nothing of an interrupted body, and leaves the existing object', async () => {
    const key = aKey()
    await open().put(key, bodyOf('before'), 6)
    const breaking = Readable.from(
      (async function* () {
        yield Buffer.from('half')
        throw new Error('The sender is gone.')
      })(),
    )
    await expect(open().put(key, breaking, 8)).rejects.toThrow('The sender is gone.')
    expect(String(await read(key))).toBe('before')
  })

  it('streams: 64 MiB pass through', async () => {
    const key = aKey()
    const piece = randomBytes(1024 * 1024)
    await open().put(key, Readable.from(Array.from({ length: 64 }, () => piece)), 64 * piece.length)
    const tail = await read(key, { start: 63 * piece.length, end: 64 * piece.length - 1 })
    expect(tail?.equals(piece)).toBe(true)
  })

  it('assembles an object for requests that come while another assembles it', async () => {
    const store = open()
    const key = aKey()
    const id = await store.startParts(key)
    const hello = randomBytes(5 * 1024 ** 2)
    const parts = [
      { part: 1, etag: await store.putPart(key, id, 1, bodyOf(hello), hello.length) },
      { part: 2, etag: await store.putPart(key, id, 2, bodyOf('world'), 5) },
    ]
    const requests = [store.completeParts(key, id, parts)]
    while (requests.length < 40 && (await store.head(key)) === null)
      requests.push(store.completeParts(key, id, parts))
    await Promise.all(requests)
    expect((await read(key))?.equals(Buffer.concat([hello, Buffer.from('world')]))).toBe(true)
    await store.delete(key)
  })

  it('assembles an object from parts that were sent in any order and repeatedly', async () => {
    const store = open()
    const key = aKey()
    const id = await store.startParts(key)
    const hello = randomBytes(5 * 1024 ** 2)
    const second = await store.putPart(key, id, 2, bodyOf('world'), 5)
    await store.putPart(key, id, 1, bodyOf('wrong'), 5)
    const first = await store.putPart(key, id, 1, bodyOf(hello), hello.length)
    expect(first).not.toBe('')
    expect(await store.head(key)).toBeNull()
    const parts = [
      { part: 1, etag: first },
      { part: 2, etag: second },
    ]
    await store.completeParts(key, id, parts)
    await store.completeParts(key, id, parts)
    expect((await read(key))?.equals(Buffer.concat([hello, Buffer.from('world')]))).toBe(true)
    expect(String(await read(key, { start: hello.length, end: hello.length + 4 }))).toBe('world')
    await store.delete(key)
    expect(await store.head(key)).toBeNull()
  })

  it('deletes parts of an aborted upload', async () => {
    const store = open()
    const key = aKey()
    const id = await store.startParts(key)
    const etag = await store.putPart(key, id, 1, bodyOf('x'), 1)
    await store.abortParts(key, id)
    await expect(store.completeParts(key, id, [{ part: 1, etag }])).rejects.toThrow(ApiError)
    expect(await store.head(key)).toBeNull()
  })

  it.each(['../etc/passwd', '/etc/passwd', 'artifacts/../../x', 'artifacts/%2e%2e/x', 'artifacts/a\0b', ''])(
    'takes no key like %j',
    async (key) => {
      await expect(async () => open().put(key, bodyOf('x'), 1)).rejects.toThrow('is not a key')
      await expect(async () => open().get(key)).rejects.toThrow('is not a key')
    },
  )
})

describe('the disk store', () => {
  it('never lets a key become a path', async () => {
    const key = aKey()
    await diskStore(root).put(key, bodyOf('x'), 1)
    const files = await readdir(root, { recursive: true })
    expect(files.filter((file) => file.includes(key.slice(10)))).toEqual([])
  })

  it('deletes old unfinished files of processes that died', async () => {
    const own = await mkdtemp(join(tmpdir(), 'blobs-'))
    const store = diskStore(own)
    const [left, recent] = [await store.startParts(aKey()), await store.startParts(aKey())]
    await utimes(join(own, 'unfinished', `parts-${left}`), 1, 1)
    await store.tidy(new Date(Date.now() - 60_000))
    expect(await readdir(join(own, 'unfinished'))).toEqual([`parts-${recent}`])
    await rm(own, { recursive: true })
  })

  it('reports a failure of the store when the file system fails', async () => {
    const own = await mkdtemp(join(tmpdir(), 'blobs-'))
    await writeFile(join(own, 'blobs'), 'a file where a directory should be')
    await expect(diskStore(join(own, 'blobs')).put(aKey(), bodyOf('x'), 1)).rejects.toMatchObject({
      status: 503,
    })
    await rm(own, { recursive: true })
  })
})

describe('the S3 store', () => {
  const store = () => s3Store(s3Settings(), s3Keys())

  it('keeps its objects under the prefix', async () => {
    const key = aKey()
    await store().put(key, bodyOf('x'), 1)
    expect(await bucket.keys()).toContain(`some/where/${key}`)
  })

  it('reports a failure of the store for a wrong secret', async () => {
    const wrong = s3Store(s3Settings(), { ...s3Keys(), secretAccessKey: 'wrong' })
    await expect(wrong.put(aKey(), bodyOf('x'), 1)).rejects.toMatchObject({ status: 503 })
    await expect(wrong.get(aKey())).rejects.toMatchObject({ status: 503 })
  })

  it('does not confuse a missing bucket with a missing object', async () => {
    const elsewhere = s3Store({ ...s3Settings(), bucket: 'none' }, s3Keys())
    await expect(elsewhere.get(aKey())).rejects.toMatchObject({ status: 503 })
  })

  it('reports a failure of the store when the server does not answer', async () => {
    const unreachable = { ...s3Settings(), endpoint: 'http://127.0.0.1:1' }
    const away = s3Store(unreachable, s3Keys())
    await expect(away.put(aKey(), bodyOf('x'), 1)).rejects.toMatchObject({ status: 503 })
    await expect(away.head(aKey())).rejects.toMatchObject({ status: 503 })
  })

  it('presigns URLs that need no credentials and allow no changes', async () => {
    const { direct, head } = store()
    const key = aKey()
    const put = (await direct?.putUrl(key, 60)) ?? ''
    expect(
      (await fetch(put, { method: 'PUT', body: 'direct', headers: { 'Content-Type': 'text/x' } })).status,
    ).toBe(200)
    expect(await head(key)).toEqual({ size: 6 })
    const disposition = `attachment; filename="a b.txt"; filename*=UTF-8''a%20b%E2%82%AC.txt`
    const get = (await direct?.getUrl(key, 60, { contentType: 'text/plain', disposition })) ?? ''
    const answer = await fetch(get)
    expect([await answer.text(), answer.headers.get('content-type')]).toEqual(['direct', 'text/plain'])
    expect(answer.headers.get('content-disposition')).toBe(disposition)
    expect((await fetch(get.replace('text%2Fplain', 'text%2Fhtml'))).status).toBe(403)
    expect((await fetch(get, { method: 'DELETE' })).status).toBe(403)
    expect((await fetch(put, { method: 'GET' })).status).toBe(403)
  })

  it('presigns URLs that expire', async () => {
    const { direct } = store()
    const key = aKey()
    await store().put(key, bodyOf('x'), 1)
    // Garage answers 400 where the others answer 403.
    const refused = [400, 403]
    const get = await direct?.getUrl(key, 1, { contentType: 'text/plain', disposition: 'inline' })
    await expect.poll(async () => (await fetch(get ?? '')).status).toBeOneOf(refused)
    const put = await direct?.putUrl(key, 1)
    await expect
      .poll(async () => (await fetch(put ?? '', { method: 'PUT', body: 'y' })).status)
      .toBeOneOf(refused)
  })

  it.each([
    ['of another secret', (url: URL) => url.searchParams.set('X-Amz-Signature', 'a'.repeat(64))],
    ['of another key', (url: URL) => url.searchParams.set('X-Amz-Credential', 'other/x/y/s3/aws4_request')],
    ['that is longer good', (url: URL) => url.searchParams.set('X-Amz-Expires', '3600')],
    ['of another object', (url: URL) => (url.pathname = `${url.pathname}0`)],
    ['without a signature', (url: URL) => (url.search = '')],
  ])('finds that its addresses are refused when changed into one %s', async (_how, change) => {
    const key = aKey()
    const url = new URL((await store().direct?.putUrl(key, 60)) ?? '')
    change(url)
    const { status } = await fetch(url, { method: 'PUT', body: 'forged' })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
    expect(await store().head(key)).toBeNull()
  })

  it('accepts parts at presigned URLs', async () => {
    const { direct, completeParts, startParts, head } = store()
    const key = aKey()
    const id = await startParts(key)
    const url = (await direct?.putPartUrl(key, id, 1, 60)) ?? ''
    const etag = (await fetch(url, { method: 'PUT', body: 'part' })).headers.get('etag') ?? ''
    await completeParts.call(store(), key, id, [{ part: 1, etag }])
    expect(await head(key)).toEqual({ size: 4 })
  })
})

describe('the S3 server of our own tests', () => {
  it('computes the signature of the example that AWS publishes', () => {
    const query =
      'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request' +
      '&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host'
    const signature = signatureOf({
      method: 'GET',
      url: new URL(`https://examplebucket.s3.amazonaws.com/test.txt?${query}`),
      headers: { host: 'examplebucket.s3.amazonaws.com' },
      payload: 'UNSIGNED-PAYLOAD',
      time: '20130524T000000Z',
      region: 'us-east-1',
      secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    })
    expect(signature).toBe('aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404')
  })
})

describe('MILLRACE_BLOBS', () => {
  const keys = { AWS_ACCESS_KEY_ID: 'one', AWS_SECRET_ACCESS_KEY: 'two' }
  const blobsOf = (text: string, env: Record<string, string> = keys) => {
    const read = readConfig({ MILLRACE_BLOBS: text, ...env })
    return read.ok ? read.config.blobs : read.problems
  }

  it('defaults to the disk, and otherwise has all settings of S3', () => {
    expect(blobsOf('')).toEqual({ kind: 'disk' })
    expect(blobsOf('s3://b/a/b/?endpoint=http://127.0.0.1:9000/&region=r&direct=on')).toEqual({
      kind: 's3',
      bucket: 'b',
      prefix: 'a/b/',
      endpoint: 'http://127.0.0.1:9000',
      region: 'r',
      direct: true,
    })
    expect(blobsOf('s3://b')).toMatchObject({
      prefix: '',
      endpoint: null,
      region: 'us-east-1',
      direct: false,
    })
  })

  it.each(['http://b', 's3://', 'nonsense', 's3://b?endpoint=nowhere'])('refuses %s', (text) => {
    expect(blobsOf(text)).toEqual([expect.stringContaining('MILLRACE_BLOBS')])
  })

  it('refuses S3 without credentials', () => {
    expect(blobsOf('s3://b', {})).toEqual([expect.stringContaining('AWS_ACCESS_KEY_ID')])
  })

  it('opens the store it names', async () => {
    const read = readConfig(bucket.env(''))
    const store = read.ok ? openBlobs(read.config) : null
    const key = aKey()
    await store?.put(key, bodyOf('x'), 1)
    expect([(await bucket.keys()).includes(key), store?.direct]).toEqual([true, null])
  })
})
