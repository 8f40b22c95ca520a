// All commands. Exit 0: done; 1: refused, with the reason on stderr; 2: wrong usage.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommanderError } from 'commander'
import { group, HELP_GROUPS } from './command.ts'
import { agentList } from './commands/agent/list.ts'
import { agentPause } from './commands/agent/pause.ts'
import { agentResume } from './commands/agent/resume.ts'
import { agentStart } from './commands/agent/start.ts'
import { agentStop } from './commands/agent/stop.ts'
import { annotationCreate } from './commands/annotation/create.ts'
import { archiveList } from './commands/archive/list.ts'
import { archiveShow } from './commands/archive/show.ts'
import { artifactDownload } from './commands/artifact/download.ts'
import { artifactList } from './commands/artifact/list.ts'
import { backup } from './commands/backup.ts'
import { budgetList } from './commands/budget/list.ts'
import { buildCancel } from './commands/build/cancel.ts'
import { buildCreate } from './commands/build/create.ts'
import { buildList } from './commands/build/list.ts'
import { buildOpen } from './commands/build/open.ts'
import { buildRebuild } from './commands/build/rebuild.ts'
import { buildRetry } from './commands/build/retry.ts'
import { buildShow } from './commands/build/show.ts'
import { buildSummary } from './commands/build/summary.ts'
import { buildUnblock } from './commands/build/unblock.ts'
import { buildWatch } from './commands/build/watch.ts'
import { completeValues, completion } from './commands/completion.ts'
import { deployFiles } from './commands/deploy-files.ts'
import { insights } from './commands/insights.ts'
import { jobCancel } from './commands/job/cancel.ts'
import { jobLog } from './commands/job/log.ts'
import { jobRetry } from './commands/job/retry.ts'
import { jobWaiting } from './commands/job/waiting.ts'
import { logSearch } from './commands/log/search.ts'
import { login } from './commands/login.ts'
import { logout } from './commands/logout.ts'
import { migrate } from './commands/migrate.ts'
import { orgCreate } from './commands/org/create.ts'
import { orgSet } from './commands/org/set.ts'
import { pipelineCreate } from './commands/pipeline/create.ts'
import { pipelineLint } from './commands/pipeline/lint.ts'
import { pipelineList } from './commands/pipeline/list.ts'
import { pipelineOpen } from './commands/pipeline/open.ts'
import { pipelineUpdate } from './commands/pipeline/update.ts'
import { profileList } from './commands/profile/list.ts'
import { profileUse } from './commands/profile/use.ts'
import { queueList } from './commands/queue/list.ts'
import { queuePause } from './commands/queue/pause.ts'
import { queueResume } from './commands/queue/resume.ts'
import { restore } from './commands/restore.ts'
import { retentionPreview } from './commands/retention/preview.ts'
import { retentionRun } from './commands/retention/run.ts'
import { retentionSet } from './commands/retention/set.ts'
import { retentionShow } from './commands/retention/show.ts'
import { run } from './commands/run.ts'
import { secretDelete } from './commands/secret/delete.ts'
import { secretList } from './commands/secret/list.ts'
import { secretSet } from './commands/secret/set.ts'
import { serve } from './commands/serve.ts'
import { ssoDisable } from './commands/sso/disable.ts'
import { testResult } from './commands/test-result.ts'
import { tokenCreate } from './commands/token/create.ts'
import { tokenList } from './commands/token/list.ts'
import { tokenRevoke } from './commands/token/revoke.ts'
import { up } from './commands/up.ts'
import { userCreate } from './commands/user/create.ts'
import { userList } from './commands/user/list.ts'
import { userOperator } from './commands/user/operator.ts'
import { userSignInLink } from './commands/user/sign-in-link.ts'
import { worker } from './commands/worker.ts'
import { packageFolder } from './package-folder.ts'
import { Refused } from './refused.ts'

export async function main(args: readonly string[]): Promise<number> {
  const millrace = group('millrace', 'A self-hosted continuous-integration control plane.', 'up', [
    login(),
    logout(),
    group(
      'profile',
      'The servers that you are logged in to.',
      'profile list',
      [profileList(), profileUse()],
      HELP_GROUPS.server,
    ),
    group(
      'build',
      'Builds: start, watch, repair.',
      'build create --watch',
      [
        buildCreate(),
        buildList(),
        buildShow(),
        buildWatch(),
        buildSummary(),
        buildCancel(),
        buildRebuild(),
        buildRetry(),
        buildUnblock(),
        buildOpen(),
      ],
      HELP_GROUPS.server,
    ),
    group(
      'job',
      'Jobs of builds: logs, retries, why they wait.',
      'job log test --follow',
      [jobLog(), jobRetry(), jobCancel(), jobWaiting()],
      HELP_GROUPS.server,
    ),
    group(
      'logs',
      'Logs of many builds.',
      'logs search "connection refused"',
      [logSearch()],
      HELP_GROUPS.server,
    ),
    group(
      'artifact',
      'Files that jobs have uploaded.',
      'artifact download 12',
      [artifactList(), artifactDownload()],
      HELP_GROUPS.server,
    ),
    group(
      'annotation',
      'Notes on the pages of builds.',
      'annotation create --help',
      [annotationCreate()],
      HELP_GROUPS.server,
    ),
    group(
      'pipeline',
      'Pipelines of a server, and pipeline files.',
      'pipeline list',
      [pipelineList(), pipelineCreate(), pipelineUpdate(), pipelineOpen(), pipelineLint()],
      HELP_GROUPS.server,
    ),
    group(
      'agent',
      'Agents of a server, and agents on this machine.',
      'agent list',
      [agentList(), agentPause(), agentResume(), agentStop(), agentStart()],
      HELP_GROUPS.server,
    ),
    group(
      'queue',
      'Queues, which jobs wait in.',
      'queue list',
      [queueList(), queuePause(), queueResume()],
      HELP_GROUPS.server,
    ),
    insights(),
    group(
      'budget',
      'What pipelines and teams may cost in a month.',
      'budget list',
      [budgetList()],
      HELP_GROUPS.server,
    ),
    group(
      'secret',
      'Secrets that jobs read.',
      'secret list',
      [secretSet(), secretList(), secretDelete()],
      HELP_GROUPS.server,
    ),
    group(
      'token',
      'API access tokens: your own, and with the database those of all people.',
      'token create --help',
      [tokenList(), tokenCreate(), tokenRevoke()],
      HELP_GROUPS.server,
    ),
    group(
      'user',
      'Members of an organization, and with the database all people.',
      'user list',
      [userList(), userCreate(), userSignInLink(), userOperator()],
      HELP_GROUPS.server,
    ),
    up(),
    serve(),
    worker(),
    migrate(),
    backup(),
    restore(),
    deployFiles(),
    run(),
    testResult(args),
    completion(),
    group('org', 'Organizations.', 'org create acme --name "Acme Inc."', [orgCreate(), orgSet()]),
    group('retention', 'How long builds, logs and artifacts are kept.', 'retention preview acme', [
      retentionShow(),
      retentionSet(),
      retentionPreview(),
      retentionRun(),
    ]),
    group('archive', 'Archived builds.', 'archive list acme web', [archiveList(), archiveShow()]),
    group('sso', 'Single sign-on.', 'sso disable acme', [ssoDisable()]),
  ])
    .addCommand(completeValues(), { hidden: true })
    .version(readVersion())
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
    const { isRefusal } = await import('@millrace/server/main.ts')
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
