// A bucket for one test file or run: in the S3 server of TEST_S3, or in s3-server.ts. TEST_S3 is
// `http://KEY:SECRET@host:port?region=…`, with the key and the secret percent-encoded.
import { randomBytes } from 'node:crypto'
import { AwsClient } from 'aws4fetch'
import { s3Keys, startS3, type Disturbance } from './s3-server.ts'

export interface Bucket {
  name: string
  endpoint: string
  region: string
  credentials: { accessKeyId: string; secretAccessKey: string }
  /** The environment: `MILLRACE_BLOBS`, with further parameters of its query, and the credentials. */
  env(prefix: string, more?: string): Record<string, string>
  /** The keys of all objects in it. */
  keys(): Promise<string[]>
  /** Only possible in s3-server.ts. */
  disturb(disturbance: Disturbance | null): void
  close(): Promise<void>
}

export async function aBucket(): Promise<Bucket> {
  const { TEST_S3: given } = process.env
  return given === undefined ? ownBucket() : bucketAt(new URL(given))
}

/** In s3-server.ts. */
export async function ownBucket(): Promise<Bucket> {
  const server = await startS3('bucket')
  return bucket(
    { name: 'bucket', endpoint: server.endpoint, region: 'us-east-1', credentials: s3Keys },
    { keys: async () => [...server.objects.keys()], disturb: server.disturb, close: server.close },
  )
}

async function bucketAt(url: URL): Promise<Bucket> {
  const name = `conformance-${randomBytes(6).toString('hex')}`
  const region = url.searchParams.get('region') ?? 'us-east-1'
  const credentials = {
    accessKeyId: decodeURIComponent(url.username),
    secretAccessKey: decodeURIComponent(url.password),
  }
  const client = new AwsClient({ ...credentials, service: 's3', region })
  const ask = async (method: string, path: string): Promise<string> => {
    const response = await client.fetch(`${url.origin}/${path}`, { method })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return text
  }
  const keys = async () => {
    const listed = await ask('GET', `${name}?list-type=2&max-keys=1000`)
    if (listed.includes('<IsTruncated>true')) throw new Error('More objects than a test makes.')
    return [...listed.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = '']) => key)
  }
  await ask('PUT', name)
  const close = async () => {
    for (const key of await keys()) await ask('DELETE', `${name}/${key}`)
    await ask('DELETE', name)
  }
  const disturb = () => {
    throw new Error('The store of TEST_S3 cannot be disturbed.')
  }
  return bucket({ name, endpoint: url.origin, region, credentials }, { keys, disturb, close })
}

const bucket = (
  place: Pick<Bucket, 'name' | 'endpoint' | 'region' | 'credentials'>,
  actions: Pick<Bucket, 'keys' | 'disturb' | 'close'>,
): Bucket => ({
  ...place,
  ...actions,
  env: (prefix, more = '') => ({
    MILLRACE_BLOBS: `s3://${place.name}/${prefix}?endpoint=${place.endpoint}&region=${place.region}${more}`,
    AWS_ACCESS_KEY_ID: place.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: place.credentials.secretAccessKey,
  }),
})
