import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aFolder, anAgent } from '../../test/agent.ts'

const caching = (paths: string[]) => ({ step: { cache: { paths } } })

describe('the cache of a step in a volume', () => {
  it('is found where the step says, by the next job too', async () => {
    const cachePath = await aFolder()
    const { server, folder } = await anAgent({ cachePath })
    const outside = join(folder, 'home', '.npm')
    const paths = ['node_modules', outside, '~/.cache/x']
    const HOME = join(folder, 'home')
    const fill = server.offer(
      { HOME, BUILDKITE_COMMAND: `for p in node_modules ${outside} ~/.cache/x; do echo hi > $p/a; done` },
      caching(paths),
    )
    expect(await server.finished(fill)).toMatchObject({ exit_status: '0' })
    expect(server.log(fill)).toContain('# node_modules: begins empty')
    const read = server.offer(
      {
        HOME,
        BUILDKITE_CLEAN_CHECKOUT: 'true',
        BUILDKITE_COMMAND: `cat node_modules/a ${outside}/a ~/.cache/x/a`,
      },
      caching(paths),
    )
    expect(await server.finished(read)).toMatchObject({ exit_status: '0' })
    expect(server.log(read)).toContain('hi\nhi\nhi\n')
    expect(server.log(read)).toMatch(/# node_modules: (found|linked already)/)
  })

  it('keeps what the checkout brings, but not over what it has', async () => {
    const cachePath = await aFolder()
    const { server, folder } = await anAgent({ cachePath })
    const checkout = join(folder, 'builds', 'tester', 'acme', 'demo')
    await mkdir(join(checkout, 'kept'), { recursive: true })
    await writeFile(join(checkout, 'kept', 'a'), 'from the checkout\n')
    const id = server.offer({ BUILDKITE_COMMAND: 'cat kept/a; echo newer > kept/a' }, caching(['kept']))
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
    expect(server.log(id)).toContain('from the checkout\n')
    expect(await readFile(join(checkout, 'kept', 'a'), 'utf8')).toBe('newer\n')
  })

  it('never takes the place of the checkout, of the volume or of a file', async () => {
    const cachePath = await aFolder()
    const { server, folder } = await anAgent({ cachePath })
    const checkout = join(folder, 'builds', 'tester', 'acme', 'demo')
    await mkdir(checkout, { recursive: true })
    await writeFile(join(checkout, 'file'), 'x')
    const id = server.offer(
      { BUILDKITE_COMMAND: 'cat file' },
      caching(['.', '..', '/', cachePath, 'file', '../../../..']),
    )
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
    expect(server.log(id)).toContain('# .: holds more than a cache, left out')
    expect(server.log(id)).toContain('# file: is no folder, left out')
  })
})
