import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aFolder } from '../../test/agent.ts'
import { findFiles } from './find.ts'

async function aTree(...files: string[]): Promise<string> {
  const folder = join(await aFolder(), 'checkout')
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), file)
  }
  return folder
}

async function find(folder: string, patterns: string): Promise<string[]> {
  return (await findFiles(patterns, folder)).map(({ path }) => path)
}

describe('findFiles', () => {
  it('finds files by several patterns, each once and in order', async () => {
    const folder = await aTree('log/b.log', 'log/a.log', 'log/deep/c.log', 'x.txt', 'with space/é.txt')
    expect(await find(folder, 'log/**/*.log;log/a.log; x.txt')).toEqual([
      'log/a.log',
      'log/b.log',
      'log/deep/c.log',
      'x.txt',
    ])
    expect(await find(folder, 'log/*.{log,txt}')).toEqual(['log/a.log', 'log/b.log'])
    expect(await find(folder, '**/*.txt')).toEqual(['with space/é.txt', 'x.txt'])
    expect(await find(folder, './with space/*')).toEqual(['with space/é.txt'])
    expect(await find(folder, 'log')).toEqual([])
    expect(await find(folder, 'nowhere/*')).toEqual([])
  })

  it('calls files outside the folder by their whole path', async () => {
    const folder = await aTree('in.txt')
    const outside = join(dirname(folder), 'out.txt')
    await writeFile(outside, 'x')
    expect(await find(folder, outside)).toEqual([outside.slice(1)])
    expect(await find(folder, '../out.txt')).toEqual([outside.slice(1)])
    expect(await find(folder, `${folder}/*.txt`)).toEqual(['in.txt'])
  })

  it('refuses a malformed pattern', async () => {
    await expect(findFiles('a{b', await aTree('x'))).rejects.toThrow('malformed')
  })
})

describe('abuse case 9: a link in a checkout that leads out of it', () => {
  it('is not followed: nothing from elsewhere is uploaded', async () => {
    const folder = await aTree('in.txt', 'sub/a.txt')
    const outside = join(dirname(folder), 'secret')
    await mkdir(outside)
    await writeFile(join(outside, 'key.txt'), 'x')
    await symlink(join(outside, 'key.txt'), join(folder, 'key.txt'))
    await symlink(outside, join(folder, 'linked'))
    await symlink('in.txt', join(folder, 'fine.txt'))
    await symlink('.', join(folder, 'loop'))
    expect(await find(folder, '**/*')).toEqual(['fine.txt', 'in.txt', 'sub/a.txt'])
    expect(await find(folder, 'linked/*')).toEqual([])
    expect(await find(folder, 'key.txt')).toEqual([])
  })
})
