// Downloads artifacts into a folder.
import { createHash, randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { FoundArtifact } from '@millrace/protocol/artifacts.ts'
import type { Api } from '../http/call.ts'
import { openRequest } from '../http/exchange.ts'
import { Refused, repeat } from '../http/retry.ts'
import { RETRIES } from '../http/retry-table.ts'
import { USER_AGENT } from '../version.ts'
import { objectUrl, openS3, readingHeaders } from './s3.ts'
import type { Variables } from './s3.ts'
import { makeFolder, targetPath, type Target } from './target.ts'

const MAX_REDIRECTS = 5
const STALL_MS = 300_000

interface DownloadTarget extends Target {
  /** Where the credentials of buckets are. */
  env: Variables
}

export async function downloadArtifact(
  api: Api,
  artifact: FoundArtifact,
  to: DownloadTarget,
): Promise<string> {
  const source = await sourceOf(artifact, to.env)
  const target = targetPath(artifact.path, to)
  await makeFolder(resolve(to.folder, to.destination), dirname(target))
  // Renaming replaces a link that stands in the way instead of writing through it.
  const part = join(dirname(target), `.download-${randomBytes(6).toString('hex')}`)
  try {
    await repeat(RETRIES.artifactDownload, api, async () => {
      await rm(part, { force: true })
      await fetchTo(artifact, await source(), part, api.signal)
    })
    await rename(part, target)
  } finally {
    await rm(part, { force: true })
  }
  return target
}

interface Source {
  url: URL
  /** For that address alone. */
  headers: Record<string, string>
}

/** Called before each attempt, because signatures expire. */
async function sourceOf(artifact: FoundArtifact, env: Variables): Promise<() => Promise<Source>> {
  const { upload_destination: destination = '', path } = artifact
  if (destination === '') return async () => ({ url: new URL(artifact.url), headers: {} })
  const bucket = await openS3(destination, env)
  const url = objectUrl(bucket, path)
  return async () => ({ url, headers: await readingHeaders(bucket, url) })
}

async function fetchTo(
  artifact: FoundArtifact,
  source: Source,
  part: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const response = await follow(source, signal)
  const digest = createHash('sha256')
  response.on('data', (bytes: Buffer) => digest.update(bytes))
  await pipeline(response, createWriteStream(part, { flags: 'wx' }))
  const expected = artifact.sha256sum
  if (expected !== '' && expected !== undefined && digest.digest('hex') !== expected) {
    throw new Error(`the bytes of ${artifact.path} are not those that were uploaded`)
  }
}

async function follow(source: Source, signal: AbortSignal | undefined): Promise<IncomingMessage> {
  let { url } = source
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    const response = await get(url, hops === 0 ? source.headers : {}, signal)
    const status = response.statusCode ?? 0
    if (status >= 200 && status <= 299) return response
    response.resume()
    const { location } = response.headers
    if (status < 300 || status > 399 || location === undefined) {
      throw new Refused(`GET ${url.origin}${url.pathname}`, status, '', null)
    }
    url = new URL(location, url)
  }
  throw new Error('too many redirects')
}

function get(
  url: URL,
  more: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { 'User-Agent': USER_AGENT, ...more }
    const request = openRequest(url, { method: 'GET', headers, ...(signal ? { signal } : {}) })
    request.setTimeout(STALL_MS, () => request.destroy(new Error('the download stalled')))
    request.on('error', reject)
    request.on('response', resolve)
    request.end()
  })
}
