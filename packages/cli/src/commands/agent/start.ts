import { once } from 'node:events'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { command, HELP_GROUPS, notBlank, print, type Output } from '../../command.ts'
import { Refused } from '../../refused.ts'
import { agentLog } from './log.ts'

interface Options extends Output {
  token: string
  endpoint: string
  queue?: string
  tags?: string[]
  spawn: number
  name: string
  priority?: number
  buildPath: string
  hooksPath?: string
  pluginsPath?: string
  socketsPath?: string
  pingMode: 'auto' | 'poll-only' | 'stream-only'
  cancelGracePeriod: number
  acquireJob?: string
  reflectExitStatus?: true
  disconnectAfterJob?: true
  disconnectAfterIdleTimeout?: number
  allowedRepositories?: RegExp[]
  allowedPlugins?: RegExp[]
  allowedEnvironmentVariables?: RegExp[]
  signingJwksFile?: string
  signingJwksKeyId: string
  verificationJwksFile?: string
  verificationFailureBehavior: 'block' | 'warn'
  /** False with `--no-plugins`. */
  plugins: boolean
  /** False with `--no-local-hooks`. */
  localHooks: boolean
}

/** Command lines can be read by every user of a machine, and the files of services keep settings in variables. */
const tokenVariable = 'MILLRACE_AGENT_TOKEN'

// The flags are those of the public agent.
export const agentStart = (): Command =>
  command(
    'start',
    'Run agents that take jobs from a control plane, until they are stopped.',
    'agent start --token mrct_... --queue default --tags gpu=no --spawn 4',
  )
    .helpGroup(HELP_GROUPS.here)
    .addOption(
      new Option('--token <token>', 'a token of the cluster')
        .env(tokenVariable)
        .argParser(notBlank)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--endpoint <url>', 'the agent API of the control plane')
        .env('MILLRACE_AGENT_ENDPOINT')
        .default('http://127.0.0.1:3000/v3'),
    )
    .addOption(
      new Option('--queue <key>', "the queue to take jobs from (default: the cluster's default queue)").env(
        'MILLRACE_AGENT_QUEUE',
      ),
    )
    .addOption(
      new Option(
        '--tags <tags>',
        "what jobs may ask for besides the machine's own os, arch and hostname, such as gpu=no",
      )
        .env('MILLRACE_AGENT_TAGS')
        .argParser((text) => text.split(',').filter((tag) => tag.trim() !== '')),
    )
    .addOption(
      new Option('--spawn <count>', 'how many agents to run')
        .env('MILLRACE_AGENT_SPAWN')
        .argParser(wholeNumber(1, 1000))
        .default(1),
    )
    .option('--name <name>', 'what to call them', '%hostname-%spawn')
    .option('--priority <number>', 'higher ones get jobs first', wholeNumber(-999_999_999, 999_999_999))
    .addOption(
      new Option('--build-path <path>', 'where jobs check out and run')
        .env('MILLRACE_AGENT_BUILD_PATH')
        .default(defaultBuildPath()),
    )
    .option('--hooks-path <path>', 'a folder of hooks that every job runs')
    .option('--plugins-path <path>', 'where plugins are kept (default: below the build path)')
    .option('--sockets-path <path>', "for what this machine's agents share; keep it short")
    .addOption(
      new Option('--ping-mode <mode>', 'how to hear of jobs')
        .choices(['auto', 'poll-only', 'stream-only'])
        .default('auto'),
    )
    .option(
      '--cancel-grace-period <seconds>',
      'how long a canceled job may take to end',
      wholeNumber(1, 86_400),
      10,
    )
    .option('--acquire-job <id>', 'run this one job and end: with 27 if it is gone, with 28 if it cannot run')
    .option('--reflect-exit-status', 'with --acquire-job, end as the job did')
    .option('--disconnect-after-job', 'end after one job')
    .option(
      '--disconnect-after-idle-timeout <seconds>',
      'end after so long without a job',
      wholeNumber(1, 1e9),
    )
    .option(
      '--allowed-repositories <patterns>',
      'refuse jobs of repositories that fit none of them',
      patterns,
    )
    .option('--allowed-plugins <patterns>', 'refuse jobs with plugins that fit none of them', patterns)
    .option(
      '--allowed-environment-variables <patterns>',
      'refuse jobs that set variables whose names fit none of them',
      patterns,
    )
    .option('--signing-jwks-file <path>', 'sign the steps that jobs upload with a key of this file')
    .option('--signing-jwks-key-id <id>', 'the key to sign with, where the file holds several', '')
    .option('--verification-jwks-file <path>', 'refuse jobs that no key of this file has signed')
    .addOption(
      new Option(
        '--verification-failure-behavior <behavior>',
        'what to do with jobs without a good signature',
      )
        .choices(['block', 'warn'])
        .default('block'),
    )
    .option('--no-plugins', 'fail jobs that bring plugins')
    .option('--no-local-hooks', 'fail jobs whose repository has hooks')
    .action(run)

async function run(options: Options): Promise<void> {
  const { startAgents } = await import('@millrace/agent/pool.ts')
  const { makeOwnFolder } = await import('@millrace/agent/sockets/own-folder.ts')
  const { tags, priority, hooksPath, pluginsPath, socketsPath, acquireJob } = options
  // An empty variable means none.
  const queue = options.queue || undefined
  const { [tokenVariable]: _, ...environment } = process.env
  const idle = options.disconnectAfterIdleTimeout
  const { token, endpoint, spawn, name, buildPath, pingMode } = options
  const { allowedRepositories, allowedPlugins, allowedEnvironmentVariables: allowedVariables } = options
  const allowed = { allowedRepositories, allowedPlugins, allowedVariables }
  const given = { queue, tags, priority, hooksPath, pluginsPath, socketsPath, acquireJob, ...allowed }
  const signing = await readSigning(options)
  await makeOwnFolder(resolve(buildPath), '--build-path').catch((error: unknown) => {
    throw new Refused(error instanceof Error ? error.message : String(error))
  })
  const pool = startAgents({
    token,
    endpoint,
    spawn,
    name,
    buildPath,
    pingMode,
    cancelGraceSeconds: options.cancelGracePeriod,
    disconnectAfterJob: options.disconnectAfterJob ?? false,
    plugins: options.plugins,
    repositoryHooks: options.localHooks,
    ...(idle === undefined ? {} : { disconnectAfterIdleSeconds: idle }),
    ...definedOnly(given),
    ...signing,
    // Jobs inherit the environment that the owner started the agent with, except for the token.
    environment,
    log: agentLog,
  })
  const agents = await pool.connected.catch((error: unknown) => {
    throw new Refused(`The agents could not start: ${error instanceof Error ? error.message : String(error)}`)
  })
  print(
    options,
    { agents, pid: process.pid },
    agents.map((agent) => `Agent ${agent.name} is connected.`).join('\n'),
  )
  process.once('SIGQUIT', () => void pool.stop('force'))
  const cause = await Promise.race([nextSignal().then(() => 'signal'), pool.ended])
  // It listens before it says that another signal is possible.
  const next = nextSignal()
  if (cause === 'signal') {
    agentLog.info({}, 'Stopping gracefully: jobs that run may end first. The next signal cancels them.')
  }
  const stopped = pool.stop('graceful')
  void next.then(() => pool.stop('force'))
  const end = await stopped
  const job = options.reflectExitStatus ? end.agents[0]?.lastJob : undefined
  process.exitCode = end.exitStatus === 0 && job ? exitStatusOf(job) : end.exitStatus
}

/** In the home, where no other user can make the folder first. */
function defaultBuildPath(): string {
  const state = process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state')
  return join(state, 'millrace', 'builds')
}

/** Unusable keys prevent the start, instead of failing every job. */
async function readSigning(options: Options) {
  const { readKeys, readSigningKey } = await import('@millrace/agent/signing/keys.ts')
  const { signingJwksFile, signingJwksKeyId: keyId, verificationJwksFile } = options
  const refuse = (error: unknown): never => {
    throw new Refused(error instanceof Error ? error.message : String(error))
  }
  if (signingJwksFile !== undefined) await readSigningKey(signingJwksFile, keyId).catch(refuse)
  const keys = verificationJwksFile === undefined ? null : await readKeys(verificationJwksFile).catch(refuse)
  return {
    verificationFailure: options.verificationFailureBehavior,
    ...(signingJwksFile === undefined ? {} : { signing: { jwksFile: resolve(signingJwksFile), keyId } }),
    ...(keys === null ? {} : { verificationKeys: keys }),
  }
}

const nextSignal = () => Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])

/** A job that never ran or was ended by a signal has status -1, which no process can exit with. */
function exitStatusOf({ exit_status: status }: { exit_status: string }): number {
  const number = Number(status)
  return number >= 0 && number <= 255 ? number : 1
}

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

function definedOnly<T extends object>(options: T): Defined<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<T>
}

function patterns(text: string): RegExp[] {
  return text.split(',').map((pattern) => {
    try {
      return new RegExp(pattern)
    } catch {
      throw new InvalidArgumentError(`${pattern} is not a regular expression.`)
    }
  })
}

const wholeNumber = (least: number, most: number) => (text: string) => {
  const number = Number(text)
  if (Number.isInteger(number) && number >= least && number <= most) return number
  throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
}
