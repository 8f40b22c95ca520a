import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anAgent } from '../../test/agent.ts'
import type { Setup } from '../../test/agent.ts'

async function inCheckout({ folder }: Setup, path: string, text: string): Promise<void> {
  const file = join(folder, 'builds', 'tester', 'acme', 'demo', path)
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, text)
}

function linesOf(log: string, prefix: string): string[] {
  return log.split('\n').filter((line) => line.startsWith(prefix))
}

describe('hooks', () => {
  it('run around the phases, those of the agent before those of the repository', async () => {
    const setup = await anAgent()
    const { server, hooks } = setup
    const names = [
      'environment',
      'pre-checkout',
      'post-checkout',
      'pre-command',
      'post-command',
      'pre-artifact',
      'post-artifact',
      'pre-exit',
    ]
    for (const name of names) await writeFile(join(hooks, name), `echo "hook: agent ${name}"`)
    for (const name of ['post-checkout', 'pre-command', 'post-command', 'pre-exit']) {
      await inCheckout(
        setup,
        `.buildkite/hooks/${name}`,
        `echo "hook: repository ${name} $BUILDKITE_COMMAND_EXIT_STATUS"`,
      )
    }
    const id = server.offer({
      BUILDKITE_COMMAND: 'echo "hook: the command"; exit 2',
      BUILDKITE_ARTIFACT_PATHS: 'none/*',
    })
    expect((await server.finished(id)).exit_status).toBe('2')
    expect(linesOf(server.log(id), 'hook: ')).toEqual([
      'hook: agent environment',
      'hook: agent pre-checkout',
      'hook: agent post-checkout',
      'hook: repository post-checkout ',
      'hook: agent pre-command',
      'hook: repository pre-command ',
      'hook: the command',
      'hook: agent post-command',
      'hook: repository post-command 2',
      'hook: agent pre-artifact',
      'hook: agent post-artifact',
      'hook: agent pre-exit',
      'hook: repository pre-exit 2',
    ])
  })

  it('hand on what they export, unset and where they move to', async () => {
    const { server, hooks } = await anAgent()
    await writeFile(join(hooks, 'environment'), 'export GREETING="two\nlines"; unset DROPPED; local_only=1')
    await writeFile(join(hooks, 'pre-command'), 'mkdir -p sub; cd sub; export API_TOKEN=correct-horse')
    const command = 'echo "[$GREETING|${DROPPED-gone}|${local_only-none}|$(basename "$PWD")|$API_TOKEN]"'
    const id = server.offer({ BUILDKITE_COMMAND: command, DROPPED: 'still here' })
    await server.finished(id)
    expect(server.log(id)).toContain('[two\nlines|gone|none|sub|[REDACTED]]')
  })

  it('and the command may set the working directory of what comes after them', async () => {
    const setup = await anAgent()
    const { server, hooks, folder } = setup
    await mkdir(join(folder, 'elsewhere'))
    await inCheckout(setup, 'sub/file', '')
    await writeFile(join(hooks, 'pre-command'), 'buildkite-agent workdir set sub')
    await writeFile(
      join(hooks, 'post-command'),
      `echo "in: $PWD"; buildkite-agent workdir set '${folder}/elsewhere' >/dev/null; echo "still: $PWD"`,
    )
    await writeFile(join(hooks, 'pre-exit'), 'echo "at last: $PWD"')
    const refused = ['missing', 'sub/file'].map(
      (path) => `buildkite-agent workdir set ${path} || echo "status $?"`,
    )
    const id = server.offer({ BUILDKITE_COMMAND: `ls; cd ..; ${refused.join('; ')}; cd sub; touch "in sub"` })
    expect((await server.finished(id)).exit_status).toBe('0')
    const checkout = join(folder, 'builds', 'tester', 'acme', 'demo')
    const log = server.log(id)
    expect(log).toContain(`there is no folder ${checkout}/missing\nstatus 1`)
    expect(log).toContain(`${checkout}/sub/file is not a folder\nstatus 1`)
    expect(linesOf(log, 'in: ')).toEqual([`in: ${checkout}/sub`])
    expect(linesOf(log, 'still: ')).toEqual([`still: ${checkout}/sub`])
    expect(linesOf(log, 'at last: ')).toEqual([`at last: ${folder}/elsewhere`])
  })

  it('end the job with their status when they fail, before the command; pre-exit hooks run all the same', async () => {
    const { server, hooks } = await anAgent()
    await writeFile(join(hooks, 'pre-command'), 'exit 7')
    await writeFile(join(hooks, 'pre-exit'), 'echo "last hook: $BUILDKITE_LAST_HOOK_EXIT_STATUS"')
    const id = server.offer({ BUILDKITE_COMMAND: 'echo ran' })
    expect((await server.finished(id)).exit_status).toBe('7')
    expect(server.log(id)).not.toContain('\nran\n')
    expect(server.log(id)).toContain('last hook: 7')
  })

  it('take the place of the command, the one of the repository first', async () => {
    const setup = await anAgent()
    const { server, hooks } = setup
    await writeFile(join(hooks, 'command'), 'echo "agent ran $BUILDKITE_COMMAND"')
    const first = server.offer({ BUILDKITE_COMMAND: 'make' })
    await server.finished(first)
    expect(server.log(first)).toContain('agent ran make')
    await inCheckout(setup, '.buildkite/hooks/command', 'echo "repository ran $BUILDKITE_COMMAND"; exit 4')
    const second = server.offer({ BUILDKITE_COMMAND: 'make' })
    expect((await server.finished(second)).exit_status).toBe('4')
    expect(server.log(second)).toContain('repository ran make')
  })

  it('may be written in any language', async () => {
    const { server, hooks } = await anAgent()
    const hook = join(hooks, 'pre-command')
    await writeFile(hook, `#!${process.execPath}\nconsole.log('from a program:', process.env.ANSWER)\n`)
    await chmod(hook, 0o755)
    const id = server.offer({ BUILDKITE_COMMAND: 'true', ANSWER: '42' })
    await server.finished(id)
    expect(server.log(id)).toContain('from a program: 42')
  })

  it('may leave a process behind for the phases after them', async () => {
    const { server, hooks, folder } = await anAgent()
    const ticked = join(folder, 'ticked')
    await writeFile(
      join(hooks, 'pre-command'),
      `(while true; do echo tick; touch ${ticked}; sleep 0.01; done) &\nexport TICKER=$!`,
    )
    const id = server.offer({
      BUILDKITE_COMMAND: `rm -f ${ticked}; until [ -e ${ticked} ]; do sleep 0.01; done; kill -0 $TICKER && echo alive`,
    })
    expect((await server.finished(id)).exit_status).toBe('0')
    expect(server.log(id)).toContain('tick\n')
    expect(server.log(id)).toContain('alive\n')
  })
})
