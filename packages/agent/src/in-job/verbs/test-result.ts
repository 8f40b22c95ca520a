// Runs tests, sends their results, and passes when all that failed is muted or skipped. The verdict is made here, where the exit
// status of the test program is known: a crash is never a pass.

import { readFile, stat } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { QuarantinedFailure } from '@millrace/protocol/test-results.ts'
import { sendTestResults, MOST_RESULT_BYTES } from '../../api/test-results.ts'
import type { FoundFile } from '../../artifacts/find.ts'
import type { Api } from '../../http/call.ts'
import { findReports, markFiles } from '../test-result/report-files.ts'
import { runCommand } from '../test-result/run-command.ts'
import { judge } from '../test-result/verdict.ts'
import type { Sent, Verdict } from '../test-result/verdict.ts'
import { Exit, JOB } from '../verb.ts'
import type { Io, Verb, VerbCall } from '../verb.ts'

const WRONG_USAGE = 2

const testResult: Verb = {
  name: 'test-result',
  usage: '<files…> -- <command…>',
  summary: 'Run tests, send the results that they write, and pass when only muted or skipped tests failed.',
  flags: {
    job: JOB,
    format: { kind: 'text', summary: 'junit or json; by default json for files that end so' },
    'failure-status': {
      kind: 'list',
      summary: 'The exit statuses of failed tests; any other is a crash. May be repeated',
      fallback: '1',
    },
    json: { kind: 'switch', summary: 'Print the verdict as one JSON value' },
  },
  async run(call) {
    const { args, rest: command, flags, io } = call
    const patterns = args.slice(0, args.length - command.length)
    const usage = 'Write: millrace test-result report.xml -- npm test'
    if (patterns.length === 0 || command.length === 0) throw new Exit(WRONG_USAGE, usage)
    if (!['', 'junit', 'json'].includes(flags.text('format')))
      throw new Exit(WRONG_USAGE, '--format is junit or json.')
    const failureStatuses = flags.list('failure-status').map(Number)
    if (!failureStatuses.every((status) => Number.isInteger(status) && status > 0 && status < 128))
      throw new Exit(WRONG_USAGE, '--failure-status is a number from 1 to 127.')

    const before = await markFiles(patterns, io.cwd)
    const ended = await runCommand(command, io)
    if (!isInJob(io)) {
      io.printError('This is no job of a server: no results are sent, and nothing is muted.')
      throw new Exit(ended.status)
    }
    const { written, old } = await findReports(patterns, io.cwd, before)
    const [api, job] = [call.api(), flags.need('job')]
    const sent: Sent[] = []
    for (const file of written) sent.push(await send(api, job, inCheckout(file, io), flags.text('format')))
    const verdict = judge(ended, sent, failureStatuses)
    report(call, verdict, sent, old)
    if (verdict.status !== 0) throw new Exit(verdict.status)
  },
}

export const testResultVerbs = [testResult]

/** Also with the public agent. `millrace run` has no server. */
const isInJob = ({ env }: Io): boolean =>
  Boolean(env['BUILDKITE_AGENT_ACCESS_TOKEN']) && Boolean(env['BUILDKITE_AGENT_ENDPOINT'])

/** The agent calls the same file so, and the results of a file count once. */
function inCheckout({ path, absolutePath }: FoundFile, { env }: Io): FoundFile {
  const named = relative(env['BUILDKITE_BUILD_CHECKOUT_PATH'] || '/', absolutePath)
  const isOutside = named.startsWith('..') || !env['BUILDKITE_BUILD_CHECKOUT_PATH']
  return { path: isOutside ? path : named.split(sep).join('/'), absolutePath }
}

async function send(api: Api, job: string, { path, absolutePath }: FoundFile, given: string): Promise<Sent> {
  try {
    const { size } = await stat(absolutePath)
    if (size > MOST_RESULT_BYTES)
      return { path, problem: `it has more than ${MOST_RESULT_BYTES / 1024 / 1024} MiB` }
    const gzipped = await promisify(gzip)(await readFile(absolutePath))
    const format = (given || (path.endsWith('.json') ? 'json' : 'junit')) as 'junit' | 'json'
    const answer = await sendTestResults(api, job, { path, format, gzipped })
    return {
      path,
      failed: answer.failed,
      nameless: answer.skipped,
      quarantined: answer.quarantined ?? [],
    }
  } catch (error) {
    return { path, problem: error instanceof Error ? error.message : String(error) }
  }
}

function report({ flags, io }: VerbCall, verdict: Verdict, sent: readonly Sent[], old: readonly string[]) {
  if (flags.isOn('json')) {
    io.print(`${JSON.stringify({ ...verdict, files: sent, old_files: old })}\n`)
    return
  }
  for (const file of sent) if ('problem' in file) io.printError(`${file.path} was not sent: ${file.problem}`)
  for (const path of old) io.printError(`${path} is from before this run, and was not sent.`)
  const { quarantined, reason } = verdict
  if (quarantined.length > 0) {
    io.print(
      `~~~ ${quarantined.length} ${quarantined.length === 1 ? 'failure does' : 'failures do'} not count\n`,
    )
    for (const test of quarantined) io.print(`  ${describe(test)}\n`)
  }
  if (reason !== null) io.printError(reason)
  else if (quarantined.length > 0) io.print('No other test failed, so the run passes.\n')
}

function describe({ scope, name, state, reason, owner, expires_at: end }: QuarantinedFailure): string {
  const facts = [
    end === null ? state : `${state} until ${end.slice(0, 16).replace('T', ' ')} UTC`,
    ...(owner === null ? [] : [`by ${oneLine(owner)}`]),
  ]
  const why = reason === null ? '' : `: ${oneLine(reason)}`
  return `${oneLine(`${scope} ${name}`)}, ${facts.join(' ')}${why}`
}

/** Names come from files, so they may have anything. */
const oneLine = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- these are what is removed
  text.replaceAll(/[\u0000-\u001F\u007F-\u009F]+/g, ' ').trim()
