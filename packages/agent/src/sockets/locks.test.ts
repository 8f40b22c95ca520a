import { chmod, chown, mkdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, describe, it } from 'vitest'
import { needing, rootLacks } from '../../../../testbed/src/needing.ts'
import { aFolder } from '../../test/agent.ts'
import { listen } from './http.ts'
import { startLockServer, lockRoutes, lockSocketPath, readLock, swapLock } from './locks.ts'

/** The locks that need no token. */
const forks = (socketsPath: string) => ({ socketsPath, token: null })

describe('locks between jobs', () => {
  it('are kept by one process, and taken by one of many', async () => {
    const folder = await aFolder()
    const lockServer = await startLockServer(folder)
    expect(lockServer).not.toBeNull()
    expect(await startLockServer(folder)).toBeNull()
    const swaps = await Promise.all(
      ['a', 'b', 'c'].map((to) => swapLock(forks(folder), 'a key/with.dots', { from: '', to })),
    )
    const winners = swaps.filter(({ isSwapped }) => isSwapped).map(({ value }) => value)
    expect(winners).toEqual([await readLock(forks(folder), 'a key/with.dots')])
    lockServer?.close()
  })

  it('are kept by one of those who begin at once, and found by who asks before that', async () => {
    const folder = await aFolder()
    const asked = readLock(forks(folder), 'a key')
    const begun = [1, 2, 3].map(async () => {
      const lockServer = await startLockServer(folder)
      return { lockServer, value: await readLock(forks(folder), 'a key') }
    })
    expect(await asked).toBe('')
    const lockServers = (await Promise.all(begun)).flatMap(({ lockServer }) => lockServer ?? [])
    expect(lockServers).toHaveLength(1)
    lockServers[0]?.close()
  })

  it('are left to whoever is about to keep them', async () => {
    const folder = await aFolder()
    await writeFile(`${lockSocketPath(folder)}.election`, '')
    const keeping = startLockServer(folder)
    const other = await listen(
      lockSocketPath(folder),
      lockRoutes(folder).map((route) => ({
        ...route,
        answer: () => ({ status: 200, body: { value: 'of another' } }),
      })),
    )
    expect(await keeping).toBeNull()
    expect(await readLock(forks(folder), 'a key')).toBe('of another')
    other.close()
  })

  it('go on when whoever was about to keep them was killed', async () => {
    const folder = await aFolder()
    const election = `${lockSocketPath(folder)}.election`
    await writeFile(election, '')
    const keeping = startLockServer(folder)
    await utimes(election, 0, 0)
    const lockServer = await keeping
    expect(lockServer).not.toBeNull()
    lockServer?.close()
  })
})

describe('abuse case R12: the folder of the lock socket', () => {
  it('is refused when other users may write to it, or when it is a link', async () => {
    const folder = await aFolder()
    const [open, link] = [join(folder, 'open'), join(folder, 'link')]
    await mkdir(open)
    await chmod(open, 0o777)
    await symlink(folder, link)
    await expect(startLockServer(open)).rejects.toThrow('Other users may write to it')
    await expect(readLock(forks(open), 'key')).rejects.toThrow('Other users may write to it')
    await expect(startLockServer(link)).rejects.toThrow('is not a folder')
  })

  needing('root', rootLacks).it('is refused when another user has made it', async () => {
    const folder = join(await aFolder(), 'taken')
    await mkdir(folder, { mode: 0o700 })
    await chown(folder, 12_345, 12_345)
    await expect(startLockServer(folder)).rejects.toThrow('It belongs to another user')
    await expect(readLock(forks(folder), 'key')).rejects.toThrow('It belongs to another user')
  })
})
