import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PingMode } from '@millrace/agent/pool.ts'
import { Option, InvalidArgumentError, type Command } from 'commander'
import { command, print, type Output } from '../../command.ts'

interface Options extends Output {
  token: string
  endpoint: string
  queue?: string
  tags?: string[]
  spawn: number
  name: string
  buildPath: string
  hooksPath?: string
  pingMode: PingMode
}

export const agentStart = (): Command =>
  command(
    'start',
    'Run agents that take jobs from a control plane, until they are stopped.',
    'agent start --token mrct_... --queue default --tags os=linux,gpu=no --spawn 4',
  )
    .requiredOption('--token <token>', 'a token of the cluster')
    .option('--endpoint <url>', 'the agent API of the control plane', 'http://127.0.0.1:3000/v3')
    .option('--queue <key>', "the queue to take jobs from (default: the cluster's default queue)")
    .option('--tags <tags>', 'what jobs may ask for, such as os=linux,gpu=no', (text) => text.split(','))
    .option('--spawn <count>', 'how many agents to run', readCount, 1)
    .option('--name <name>', 'what to call them', '%hostname-%spawn')
    .option('--build-path <path>', 'where jobs check out and run', join(tmpdir(), 'millrace-builds'))
    .option('--hooks-path <path>', 'a folder of hooks that every job runs')
    .addOption(
      new Option('--ping-mode <mode>', 'how it hears of jobs: on a stream where there is one, or by asking')
        .choices(['auto', 'poll-only', 'stream-only'])
        .default('auto'),
    )
    .action(async ({ queue, tags, hooksPath, ...options }: Options) => {
      const { startAgents } = await import('@millrace/agent/pool.ts')
      const pool = startAgents({
        ...options,
        // Whoever runs an agent of their own decides what its jobs inherit.
        environment: process.env,
        ...(queue === undefined ? {} : { queue }),
        ...(tags === undefined ? {} : { tags }),
        ...(hooksPath === undefined ? {} : { hooksPath }),
      })
      const agents = await pool.connected
      print(
        options,
        { agents, pid: process.pid },
        agents.map(({ name }) => `Agent ${name} is connected.`).join('\n'),
      )
      await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), pool.ended])
      // The first signal lets running jobs end; the second does not.
      const stopped = pool.stop('graceful')
      void Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]).then(() => pool.stop('force'))
      process.exitCode = (await stopped).exitStatus
    })

function readCount(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= 1000) return count
  throw new InvalidArgumentError('It must be a whole number from 1 to 1000.')
}
