import { execFile } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { aFolder } from '../test/agent.ts'
import { makeCommandsFolder } from './commands-folder.ts'

async function theCommands() {
  const { path, remove } = await makeCommandsFolder(process.execPath)
  onTestFinished(remove)
  const run = (args: string[], folders: string[]) =>
    new Promise<{ status: unknown; out: string }>((resolve) => {
      const env = { PATH: folders.join(':') }
      execFile(join(path, 'millrace'), args, { env }, (error, stdout, stderr) =>
        resolve({ status: error?.code ?? 0, out: stdout + stderr }),
      )
    })
  return { path, run }
}

describe('the millrace command of jobs', () => {
  it('is that of the agent for test-result, and that of the machine for all else', async () => {
    const { path, run } = await theCommands()
    const theirs = await aFolder()
    await writeFile(join(theirs, 'millrace'), '#!/bin/sh\necho "theirs: $* $PATH"\nexit 7\n')
    await chmod(join(theirs, 'millrace'), 0o755)
    const folders = [path, theirs, '/usr/bin', path, '/bin']
    expect(await run(['test-result'], folders)).toEqual({
      status: 2,
      out: 'Write: millrace test-result report.xml -- npm test\n',
    })
    expect(await run(['build', 'list one'], folders)).toEqual({
      status: 7,
      out: `theirs: build list one ${theirs}:/usr/bin:/bin\n`,
    })
  })

  it('is not there for anything else where the machine has none', async () => {
    const { path, run } = await theCommands()
    expect((await run(['build'], [path])).status).toBe(127)
  })
})
