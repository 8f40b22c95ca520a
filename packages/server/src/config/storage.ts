// Where logs, artifacts and caches are stored, and how large they may be.
import { integer, isHttpUrl, Refused, subject, text, type Reader, type Setting } from './settings.ts'

export interface S3Settings {
  readonly kind: 's3'
  readonly bucket: string
  /** Empty, or ends with a slash. */
  readonly prefix: string
  readonly region: string
  /** null: Amazon's. With an endpoint the bucket is the first part of the path. */
  readonly endpoint: string | null
  /** Clients are redirected to the store; otherwise everything goes through this server. */
  readonly direct: boolean
}

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
}

const blobs: Setting<{ readonly kind: 'disk' } | S3Settings> = {
  absent: { kind: 'disk' },
  shown: '`blobs` in the data directory',
  description:
    '`s3://bucket/prefix?endpoint=…&region=…`, with `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`; `&direct=on` redirects agents and browsers to the store, which they must be able to reach',
  parse(given) {
    const url = URL.canParse(given) ? new URL(given) : null
    const prefix = url?.pathname.replace(/^\/+|\/+$/g, '') ?? ''
    if (url?.protocol !== 's3:' || url.hostname === '' || !/^[\w./-]*$/.test(prefix)) {
      throw new Refused('must look like s3://bucket/prefix?region=eu-west-1 (or be absent: on disk).')
    }
    const endpoint = url.searchParams.get('endpoint')?.replace(/\/+$/, '') || null
    if (endpoint !== null && !isHttpUrl(endpoint)) {
      throw new Refused('must have an http or https address as its endpoint.')
    }
    return {
      kind: 's3',
      bucket: url.hostname,
      prefix: prefix === '' ? '' : `${prefix}/`,
      region: url.searchParams.get('region') || 'us-east-1',
      endpoint,
      direct: ['on', 'true', '1'].includes(url.searchParams.get('direct')?.toLowerCase() ?? ''),
    }
  },
}

export const storageSettings = subject('Logs, artifacts and caches', {
  MILLRACE_BLOBS: blobs,
  AWS_ACCESS_KEY_ID: text('', 'The credentials for `MILLRACE_BLOBS`'),
  AWS_SECRET_ACCESS_KEY: text('', 'Their secret'),
  AWS_SESSION_TOKEN: text(undefined, 'Of temporary credentials'),
  MILLRACE_LOG_MAX_BYTES: integer(
    { absent: 1024 ** 3, from: 1, to: 16 * 1024 ** 3 },
    "Limit of one job's log. The rest is not stored, and the log says so",
  ),
  // Agents cut a file into equal parts, and S3 accepts parts from 5 MiB to 5 GiB.
  MILLRACE_ARTIFACT_PART_MIB: integer(
    { absent: 64, from: 10, to: 5 * 1024 },
    'Agents upload larger files in parts of this size, so that a proxy does not have to accept more at once',
  ),
  MILLRACE_CACHE_ENTRY_GB: integer(
    { absent: 20, from: 0, to: 1000 },
    'Limit of one [cache](cache.md) of agents that are not hosted, before compression; 0 for no caches',
  ),
  MILLRACE_CACHE_PIPELINE_GB: integer(
    { absent: 20, from: 1, to: 100_000 },
    'Limit of the stored caches of a pipeline',
  ),
  MILLRACE_CACHE_ORGANIZATION_GB: integer(
    { absent: 100, from: 1, to: 1_000_000 },
    'Limit of the stored caches of an organization',
  ),
  MILLRACE_CACHE_DAYS: integer(
    { absent: 14, from: 1, to: 3650 },
    'A cache that is not used for so long is deleted',
  ),
})

export function readStorage(reader: Reader) {
  const values = reader.read(storageSettings)
  const s3: S3Credentials = {
    accessKeyId: values.AWS_ACCESS_KEY_ID,
    secretAccessKey: values.AWS_SECRET_ACCESS_KEY,
    sessionToken: values.AWS_SESSION_TOKEN,
  }
  if (values.MILLRACE_BLOBS.kind === 's3' && !(s3.accessKeyId && s3.secretAccessKey)) {
    reader.problems.push('MILLRACE_BLOBS is in S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.')
  }
  return {
    blobs: values.MILLRACE_BLOBS,
    logMaxBytes: values.MILLRACE_LOG_MAX_BYTES,
    artifactPartBytes: values.MILLRACE_ARTIFACT_PART_MIB * 1024 ** 2,
    caches: {
      entryBytes: values.MILLRACE_CACHE_ENTRY_GB * 1024 ** 3,
      pipelineBytes: values.MILLRACE_CACHE_PIPELINE_GB * 1024 ** 3,
      organizationBytes: values.MILLRACE_CACHE_ORGANIZATION_GB * 1024 ** 3,
      days: values.MILLRACE_CACHE_DAYS,
    },
    secrets: { s3 },
  }
}
