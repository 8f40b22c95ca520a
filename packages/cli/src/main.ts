// All commands. Exit 0: done; 1: refused, with the reason on stderr; 2: wrong usage.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommanderError } from 'commander'
import { group } from './command.ts'
import { agentStart } from './commands/agent/start.ts'
import { backup } from './commands/backup.ts'
import { migrate } from './commands/migrate.ts'
import { orgCreate } from './commands/org/create.ts'
import { orgSet } from './commands/org/set.ts'
import { pipelineLint } from './commands/pipeline/lint.ts'
import { restore } from './commands/restore.ts'
import { run } from './commands/run.ts'
import { serve } from './commands/serve.ts'
import { ssoDisable } from './commands/sso/disable.ts'
import { tokenCreate } from './commands/token/create.ts'
import { tokenRevoke } from './commands/token/revoke.ts'
import { up } from './commands/up.ts'
import { userCreate } from './commands/user/create.ts'
import { userSignInLink } from './commands/user/sign-in-link.ts'
import { worker } from './commands/worker.ts'
import { packageFolder } from './package-folder.ts'
import { loadProgram } from './program.ts'
import { Refused } from './run/refused.ts'

export async function main(args: readonly string[]): Promise<number> {
  const millrace = group('millrace', 'A self-hosted continuous-integration control plane.', 'up', [
    up(),
    serve(),
    worker(),
    migrate(),
    backup(),
    restore(),
    run(),
    group('agent', 'Agents.', 'agent start --help', [agentStart()]),
    group('pipeline', 'Pipelines.', 'pipeline lint .buildkite/pipeline.yml', [pipelineLint()]),
    group('org', 'Organizations.', 'org create acme --name "Acme Inc."', [orgCreate(), orgSet()]),
    group('sso', 'Single sign-on.', 'sso disable acme', [ssoDisable()]),
    group('user', 'People.', 'user create --help', [userCreate(), userSignInLink()]),
    group('token', 'API access tokens.', 'token create --help', [tokenCreate(), tokenRevoke()]),
  ]).version(readVersion())
  try {
    await millrace.parseAsync(args, { from: 'user' })
    // Some commands set other exit codes.
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (error instanceof Refused) {
      if (error.message !== '') console.error(error.message)
      return 1
    }
    const { isRefusal } = await loadProgram()
    console.error(isRefusal(error) ? error.message : error)
    return 1
  }
}

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string
  }
  return version
}
