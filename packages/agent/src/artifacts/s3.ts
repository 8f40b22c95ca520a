// Stores artifacts in a bucket that the job names. The agent uploads and downloads directly, with credentials of its own
// machine. The server stores only the addresses.

import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { AwsV4Signer } from 'aws4fetch'
import type { Api } from '../http/call.ts'
import { repeat } from '../http/retry.ts'
import { RETRIES } from '../http/retry-table.ts'
import { put, slice } from './put.ts'
import type { LocalFile } from './transfer.ts'

export interface S3Destination {
  bucket: string
  /** '' or with a slash at its end. */
  prefix: string
  region: string
  /** null: Amazon's own. Given: the bucket is the first part of the path. */
  endpoint: string | null
  /** null: the bucket's default, usually private. */
  acl: string | null
  keys: Keys
}

interface Keys {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
}

export type Variables = Readonly<Record<string, string | undefined>>

/** The largest single upload. */
const MOST_BYTES = 5 * 1024 ** 3

/** Throws an error with instructions if the destination is unknown or credentials are missing. */
export async function openS3(destination: string, env: Variables): Promise<S3Destination> {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/s.exec(destination)
  const [, bucket, folder = ''] = match ?? []
  if (bucket === undefined) {
    throw new Error(
      `artifacts can be kept by the server or in s3://bucket/folder; "${destination}" is neither, so unset BUILDKITE_ARTIFACT_UPLOAD_DESTINATION or name a bucket`,
    )
  }
  const first = (...names: readonly string[]) =>
    names.map((name) => env[name]?.trim() ?? '').find((value) => value !== '')
  const prefix = folder.replaceAll(/^\/+|\/+$/g, '')
  return {
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region: first('BUILDKITE_S3_DEFAULT_REGION', 'AWS_REGION', 'AWS_DEFAULT_REGION') ?? 'us-east-1',
    endpoint:
      first('BUILDKITE_S3_ENDPOINT', 'AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL')?.replace(/\/+$/, '') ?? null,
    acl: first('BUILDKITE_S3_ACL') ?? null,
    keys: keysFrom(first) ?? (await keysFromFile(env)) ?? refuseWithoutKeys(destination),
  }
}

export function objectUrl({ bucket, prefix, region, endpoint }: S3Destination, path: string): URL {
  const key = `${prefix}${path}`.split('/').map(encodeURIComponent).join('/')
  if (endpoint !== null) return new URL(`${endpoint}/${bucket}/${key}`)
  // A bucket with dots in its name has no certificate of its own.
  return bucket.includes('.')
    ? new URL(`https://s3.${region}.amazonaws.com/${bucket}/${key}`)
    : new URL(`https://${bucket}.s3.${region}.amazonaws.com/${key}`)
}

export async function putObject(api: Api, destination: S3Destination, file: LocalFile): Promise<void> {
  if (file.file_size > MOST_BYTES) throw new Error('S3 takes files of up to 5 GiB in one piece')
  const url = objectUrl(destination, file.path)
  await repeat(RETRIES.artifactBytes, api, async () => {
    const headers = await sign(destination, 'PUT', url, {
      'Content-Type': file.content_type,
      'X-Amz-Content-Sha256': file.sha256sum,
      ...(destination.acl === null ? {} : { 'X-Amz-Acl': destination.acl }),
    })
    const bytes = slice(file.absolute_path, 0, file.file_size)
    await put({ url, method: 'PUT', headers, bytes, size: file.file_size, signal: api.signal })
  })
}

/** The headers of a request for the object. */
export async function readingHeaders(destination: S3Destination, url: URL): Promise<Record<string, string>> {
  return await sign(destination, 'GET', url, {})
}

async function sign(
  { keys, region }: S3Destination,
  method: string,
  url: URL,
  headers: Record<string, string>,
): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({ ...keys, method, url: url.href, headers, service: 's3', region })
  const signed = await signer.sign()
  return Object.fromEntries(signed.headers)
}

function keysFrom(first: (...names: readonly string[]) => string | undefined): Keys | null {
  const accessKeyId = first('BUILDKITE_S3_ACCESS_KEY_ID', 'AWS_ACCESS_KEY_ID')
  const secretAccessKey = first('BUILDKITE_S3_SECRET_ACCESS_KEY', 'AWS_SECRET_ACCESS_KEY')
  const sessionToken = first('BUILDKITE_S3_SESSION_TOKEN', 'AWS_SESSION_TOKEN')
  if (accessKeyId === undefined || secretAccessKey === undefined) return null
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }
}

/** The file that the vendor's own tools read. */
async function keysFromFile(env: Variables): Promise<Keys | null> {
  const path = env['AWS_SHARED_CREDENTIALS_FILE'] ?? join(env['HOME'] ?? homedir(), '.aws', 'credentials')
  const text = await readFile(path, 'utf8').catch(() => '')
  const profile = env['AWS_PROFILE'] ?? 'default'
  const section = text.split(/^\s*\[/m).find((part) => part.split(']', 1)[0]?.trim() === profile)
  const values = new Map(
    (section ?? '').split('\n').map((line): [string, string] => {
      const [name = '', ...value] = line.split('=')
      return [name.trim().toUpperCase(), value.join('=').trim()]
    }),
  )
  return keysFrom((...names) =>
    names.map((name) => values.get(name)).find((value) => value !== undefined && value !== ''),
  )
}

function refuseWithoutKeys(destination: string): never {
  throw new Error(
    `${destination} needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for example in the agent's environment hook`,
  )
}
