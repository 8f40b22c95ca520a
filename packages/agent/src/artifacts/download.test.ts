import { createHash } from 'node:crypto'
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FoundArtifact } from '@millrace/protocol/artifacts.ts'
import { aCounterpart, aFolder, hastyClock } from '../../test/agent.ts'
import type { Counterpart } from '../../test/counterpart.ts'
import { openSession } from '../http/session.ts'
import { downloadArtifact } from './download.ts'
import { targetPath } from './target.ts'

const CONTENT = JSON.stringify('content')

function artifact(server: Counterpart, path: string, more: Partial<FoundArtifact> = {}): FoundArtifact {
  return {
    id: 'a1',
    path,
    absolute_path: `/x/${path}`,
    file_size: CONTENT.length,
    sha1sum: '',
    sha256sum: createHash('sha256').update(CONTENT).digest('hex'),
    job_id: 'j1',
    url: `${server.origin}/store/a1?signature=s`,
    ...more,
  }
}

async function setUp() {
  const server = await aCounterpart()
  server.answer(/^GET \/store/, () => ({ status: 200, body: 'content' }))
  const api = { session: openSession(server.endpoint, 'token'), clock: hastyClock }
  return { server, api, folder: await aFolder() }
}

describe('targetPath', () => {
  it('puts artifacts below the destination', () => {
    const at = (path: string, destination: string) => targetPath(path, { folder: '/w', destination })
    expect(at('logs/a.log', '.')).toBe('/w/logs/a.log')
    expect(at('logs/a.log', 'out')).toBe('/w/out/logs/a.log')
    expect(at('logs/a.log', 'logs/')).toBe('/w/logs/a.log')
  })
})

describe('abuse case 5: the path of an artifact that leads out of the folder', () => {
  it('is refused in every form, and encoded it is the odd name it looks like', () => {
    const odd = targetPath('%2e%2e/%2e%2e%2fetc/passwd', { folder: '/w', destination: 'out' })
    expect(odd).toBe('/w/out/%2e%2e/%2e%2e%2fetc/passwd')
    for (const path of [
      '../a',
      'a/../../b',
      '/etc/passwd',
      'a//b',
      '',
      '.',
      'a/./b',
      '..\\a',
      'a\0b',
      'a/',
    ]) {
      expect(() => targetPath(path, { folder: '/w', destination: 'out' })).toThrow('not safe')
    }
  })
})

describe('downloadArtifact', () => {
  it('writes the bytes, following redirects, without any token', async () => {
    const { server, api, folder } = await setUp()
    server.answer(/^GET \/first/, () => ({ status: 302, headers: { Location: '/store/a1' } }))
    const found = artifact(server, 'deep/er/a.txt', { url: `${server.origin}/first` })
    const target = await downloadArtifact(api, found, { folder, destination: 'out', env: {} })
    expect(target).toBe(join(folder, 'out/deep/er/a.txt'))
    expect(await readFile(target, 'utf8')).toBe(CONTENT)
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined])
  })

  it('leaves nothing behind when the bytes are not the right ones', async () => {
    const { server, api, folder } = await setUp()
    const wrong = artifact(server, 'a.txt', { sha256sum: '0'.repeat(64) })
    await expect(downloadArtifact(api, wrong, { folder, destination: '.', env: {} })).rejects.toThrow(
      'not those that were uploaded',
    )
    expect(await readdir(folder)).toEqual([])
  })
})

describe('abuse case 9: a link in the folder that artifacts are downloaded to', () => {
  it('is not written through, neither one to a folder nor one to a file', async () => {
    const { server, api, folder } = await setUp()
    const outside = await aFolder()
    await mkdir(join(folder, 'out'))
    await symlink(outside, join(folder, 'out', 'linked'))
    const inside = { folder, destination: 'out', env: {} }
    await expect(downloadArtifact(api, artifact(server, 'linked/a.txt'), inside)).rejects.toThrow(
      'not a folder',
    )
    await writeFile(join(outside, 'victim'), 'old')
    await symlink(join(outside, 'victim'), join(folder, 'out', 'a.txt'))
    await downloadArtifact(api, artifact(server, 'a.txt'), inside)
    expect(await readFile(join(outside, 'victim'), 'utf8')).toBe('old')
    expect((await lstat(join(folder, 'out', 'a.txt'))).isFile()).toBe(true)
    expect(await readdir(outside)).toEqual(['victim'])
  })
})
