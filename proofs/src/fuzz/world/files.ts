// Artifacts: announced, uploaded and reported, as agents do it.
import { createHash, randomUUID } from 'node:crypto'
import type { Json, World } from './world.ts'

const fileContent = Buffer.from('a round world\n')

const digest = (algorithm: string) => createHash(algorithm).update(fileContent).digest('hex')

const announced = (size: number) => ({
  path: 'world.txt',
  absolute_path: '/builds/world.txt',
  file_size: size,
  sha1sum: digest('sha1'),
  sha256sum: digest('sha256'),
  // Also answered as a picture.
  content_type: 'image/svg+xml',
})

interface Announced {
  id: string
  /** Authorizes the upload. */
  ticket: string
}

async function announceFile(world: World, size: number): Promise<{ id: string; answer: Json }> {
  const answer = await world.agent('POST', `jobs/${world.id('job')}/artifacts`, world.secret('job'), {
    id: randomUUID(),
    multipart_supported: size > fileContent.length,
    artifacts: [announced(size)],
  })
  const [id] = answer.artifact_ids ?? []
  return { id: String(id), answer }
}

export async function announce(world: World): Promise<Announced> {
  const { id, answer } = await announceFile(world, fileContent.length)
  const text = JSON.stringify(answer)
  return { id, ticket: /"ticket":"([^"]+)"/.exec(text)?.[1] ?? '' }
}

/** A file that is so large that it is uploaded in parts. */
export async function announceParts(world: World): Promise<Announced> {
  const { id, answer } = await announceFile(world, 20 * 1024 * 1024)
  return { id, ticket: /parts\/1\?ticket=([^"&]+)/.exec(JSON.stringify(answer))?.[1] ?? '' }
}

export async function uploadFile(world: World, id: string, ticket: string): Promise<void> {
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  await world.visit('POST', '/v3/uploads', '', { headers, body: uploadForm(id, ticket) })
  await world.agent('PUT', `jobs/${world.id('job')}/artifacts`, world.secret('job'), {
    artifacts: [{ id, state: 'finished' }],
  })
}

/** The query of a URL with which anyone can read the file. */
export async function takeFile(world: World, id: string): Promise<string> {
  const found = await world.call('GET', `/jobs/${world.id('job')}/artifacts/${id}/download`)
  return new URL(String(found.url)).searchParams.get('ticket') ?? ''
}

export const boundary = 'fuzz-boundary'

export function uploadForm(id: string, ticket: string, content = fileContent): Buffer {
  const field = (name: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const head = `${field('artifact_id', id)}${field('ticket', ticket)}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="world.txt"\r\nContent-Type: text/plain\r\n\r\n`
  return Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--\r\n`)])
}
