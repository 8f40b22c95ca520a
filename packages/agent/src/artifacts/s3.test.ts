import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ArtifactBatchRequest, FoundArtifact } from '@millrace/protocol/artifacts.ts'
import { s3Keys, startS3, type S3Server } from '../../../../testbed/src/s3-server.ts'
import { aCounterpart, aFolder, hastyClock } from '../../test/agent.ts'
import { openSession } from '../http/session.ts'
import { downloadArtifact } from './download.ts'
import { objectUrl, openS3 } from './s3.ts'
import { uploadArtifacts } from './upload.ts'

const keys = { AWS_ACCESS_KEY_ID: s3Keys.accessKeyId, AWS_SECRET_ACCESS_KEY: s3Keys.secretAccessKey }

let store: S3Server

beforeAll(async () => {
  store = await startS3('our-artifacts')
})

afterAll(() => store.close())

async function setUp() {
  const server = await aCounterpart()
  const folder = await aFolder()
  const api = { session: openSession(server.endpoint, 'job-token'), clock: hastyClock }
  server.answer(/^POST \/v3\/jobs\/j1\/artifacts/, () => ({
    status: 201,
    body: { id: 'batch', artifact_ids: ['a1'] },
  }))
  const upload = (destination: string, env: Record<string, string>) =>
    uploadArtifacts(api, { jobId: 'j1', patterns: '**/*', folder, destination, env, say: () => {} })
  return { server, folder, api, upload }
}

describe('artifacts in a bucket of one’s own', () => {
  it('go there directly, are announced with their address, and come back from there', async () => {
    const { server, folder, api, upload } = await setUp()
    await mkdir(join(folder, 'a folder'))
    await writeFile(join(folder, 'a folder', "it's (mine)*.txt"), 'kept elsewhere')
    const env = { ...keys, BUILDKITE_S3_ENDPOINT: store.endpoint }
    expect(await upload('s3://our-artifacts/builds/7', env)).toBe(1)
    expect(store.objects.get("builds/7/a folder/it's (mine)*.txt")?.toString()).toBe('kept elsewhere')

    const [request] = server.find(/^POST .*artifacts/)
    const batch = JSON.parse(request?.body.toString() ?? '') as ArtifactBatchRequest
    const [file] = batch.artifacts
    expect(batch.upload_destination).toBe('s3://our-artifacts/builds/7')
    expect(file?.url).toMatch(/^http:.*\/our-artifacts\/builds\/7\/a%20folder\//)

    const found = { ...file, id: 'a1', job_id: 'j1', upload_destination: batch.upload_destination }
    const place = { folder, destination: 'got', env }
    const target = await downloadArtifact(api, found as unknown as FoundArtifact, place)
    expect(await readFile(target, 'utf8')).toBe('kept elsewhere')
  })

  it('are reported as failed when the store refuses them', async () => {
    const { server, folder, upload } = await setUp()
    await writeFile(join(folder, 'x'), 'x')
    const wrong = { ...keys, AWS_SECRET_ACCESS_KEY: 'not the secret', AWS_ENDPOINT_URL: store.endpoint }
    await expect(upload('s3://our-artifacts', wrong)).rejects.toThrow('1 of 1 artifacts')
    expect(server.find(/^PUT .*artifacts/)[0]?.body.toString()).toContain('"error"')
    expect(store.objects.has('x')).toBe(false)
  })

  it('need credentials, from variables or from the file that other tools read', async () => {
    const home = await aFolder()
    await expect(openS3('s3://our-artifacts', { HOME: home })).rejects.toThrow('set AWS_ACCESS_KEY_ID')
    await mkdir(join(home, '.aws'))
    const file =
      '[default]\naws_access_key_id = D\naws_secret_access_key = d\n[ci]\naws_access_key_id=C\naws_secret_access_key=c=\n'
    await writeFile(join(home, '.aws', 'credentials'), file)
    expect((await openS3('s3://our-artifacts', { HOME: home })).keys).toEqual({
      accessKeyId: 'D',
      secretAccessKey: 'd',
    })
    const profiled = await openS3('s3://our-artifacts', { HOME: home, AWS_PROFILE: 'ci' })
    expect(profiled.keys).toEqual({ accessKeyId: 'C', secretAccessKey: 'c=' })
  })

  it('have addresses of the region, with the bucket in the path when its name has dots', async () => {
    const at = async (destination: string) =>
      objectUrl(await openS3(destination, { ...keys, AWS_REGION: 'eu-west-1' }), 'a b/c').href
    expect(await at('s3://ours/x/')).toBe('https://ours.s3.eu-west-1.amazonaws.com/x/a%20b/c')
    expect(await at('s3://our.bucket')).toBe('https://s3.eu-west-1.amazonaws.com/our.bucket/a%20b/c')
  })

  it('are refused in other stores with a sentence that names those that work', async () => {
    for (const destination of [
      'gs://bucket',
      'rt://repo',
      'https://a.blob.core.windows.net/c',
      's3://',
      'x',
    ]) {
      await expect(openS3(destination, keys)).rejects.toThrow('by the server or in s3://bucket/folder')
    }
  })
})
