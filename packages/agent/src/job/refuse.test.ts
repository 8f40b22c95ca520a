import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anAgent, type Setup } from '../../test/agent.ts'

const refused = { exit_status: '-1', signal_reason: 'agent_refused' }

async function end({ server }: Setup, env: Record<string, string>) {
  const id = server.offer({ BUILDKITE_COMMAND: 'echo "it ran"', ...env })
  return { report: await server.finished(id), log: server.log(id) }
}

describe('a job is refused', () => {
  it('when its repository fits none of those the agent takes', async () => {
    const setup = await anAgent({ allowedRepositories: [/^git@example\.com:acme\//, /^none$/] })
    expect((await end(setup, { BUILDKITE_REPO: 'none' })).report.exit_status).toBe('0')
    const { report, log } = await end(setup, { BUILDKITE_REPO: 'git@evil.example:acme/app.git' })
    expect(report).toMatchObject(refused)
    expect(log).toContain('This agent takes no jobs of the repository git@evil.example:acme/app.git.')
    expect(log).not.toContain('\nit ran\n')
  })

  it('when one of its plugins fits none of those the agent runs, however it is spelled', async () => {
    const setup = await anAgent({ allowedPlugins: [/^github\.com\/acme\//] })
    for (const plugin of ['docker#v5.0.0', 'github.com/buildkite-plugins/docker-buildkite-plugin#v5.0.0']) {
      const { report, log } = await end(setup, { BUILDKITE_PLUGINS: JSON.stringify([{ [plugin]: null }]) })
      expect(report).toMatchObject(refused)
      expect(log).toContain('does not run the plugin github.com/buildkite-plugins/docker-buildkite-plugin.')
    }
    expect((await end(setup, {})).report.exit_status).toBe('0')
  })

  it('when it sets a variable that fits none of those it may; what the server says of the job always may', async () => {
    const setup = await anAgent({ allowedVariables: [/^APP_/] })
    expect((await end(setup, { APP_MODE: 'x', CI: 'true' })).report.exit_status).toBe('0')
    const { report, log } = await end(setup, { LD_PRELOAD: '/tmp/x.so' })
    expect(report).toMatchObject(refused)
    expect(log).toContain('does not let jobs set the variable LD_PRELOAD.')
  })

  it('when it asks for an image, which an agent without containers cannot give it', async () => {
    const setup = await anAgent()
    const { report, log } = await end(setup, { BUILDKITE_IMAGE: 'node:24' })
    expect(report).toMatchObject(refused)
    expect(log).toContain(
      'Refused: The step asks for the image node:24, and this agent runs jobs without containers.',
    )
    expect(log).not.toContain('it ran\n')
    const inContainer = await anAgent({ hasJobImage: true })
    expect((await end(inContainer, { BUILDKITE_IMAGE: 'node:24' })).report.exit_status).toBe('0')
    await writeFile(join(setup.hooks, 'command'), 'echo "in a container of $BUILDKITE_IMAGE"')
    const hooked = await end(setup, { BUILDKITE_IMAGE: 'node:24' })
    expect(hooked.report.exit_status).toBe('0')
    expect(hooked.log).toContain('in a container of node:24')
  })

  it("by the agent's pre-bootstrap hook, which reads the job's variables from files and has none of them", async () => {
    const output: string[] = []
    const log = {
      info: (fields: object) => void output.push(JSON.stringify(fields)),
      warn() {},
      error() {},
    }
    const setup = await anAgent({ log })
    const hook = join(setup.hooks, 'pre-bootstrap')
    await writeFile(
      hook,
      '#!/bin/sh\necho "asked, with [$SECRET_PLAN]"\n! grep -q "^SECRET_PLAN=\\"mine\\"$" "$BUILDKITE_ENV_FILE" && grep -q "\\"CI\\":" "$BUILDKITE_ENV_JSON_FILE"\n',
    )
    await chmod(hook, 0o755)
    expect((await end(setup, { CI: 'true' })).report.exit_status).toBe('0')
    const second = await end(setup, { CI: 'true', SECRET_PLAN: 'mine' })
    expect(second.report).toMatchObject(refused)
    expect(second.log).toContain('pre-bootstrap hook refused the job with status 1')
    expect(second.log).not.toContain('asked, with')
    expect(output.join('\n')).toContain('asked, with []')
  })
})

describe('an agent can be configured', () => {
  it('to run no plugins', async () => {
    const setup = await anAgent({ plugins: false })
    const { report, log } = await end(setup, { BUILDKITE_PLUGINS: '["docker#v5.0.0"]' })
    expect(report.exit_status).toBe('1')
    expect(log).toContain('this agent runs no plugins')
    expect((await end(setup, {})).report.exit_status).toBe('0')
  })

  it('to run no hooks of a repository', async () => {
    const setup = await anAgent({ repositoryHooks: false })
    const checkout = 'mkdir -p .buildkite/hooks && echo "echo taken over" > .buildkite/hooks/pre-command'
    await mkdir(setup.hooks, { recursive: true })
    await writeFile(join(setup.hooks, 'post-checkout'), checkout)
    const { report, log } = await end(setup, {})
    expect(report.exit_status).toBe('1')
    expect(log).toContain('this agent does not run the pre-command hook of a repository')
    expect(log).not.toContain('taken over\n')
  })
})
