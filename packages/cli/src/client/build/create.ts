import type { Build } from '@millrace/server/wire.ts'
import { print } from '../../command.ts'
import { git } from '../../run/checkout.ts'
import { Refused } from '../../refused.ts'
import { openApi } from '../api.ts'
import { findTarget } from '../find-target.ts'
import { oneLine } from '../text.ts'
import { commonBody, type CreateOptions } from './create-request.ts'
import { buildName } from '../find-build.ts'
import { watchAndExit } from './watch.ts'

export async function createBuild(options: CreateOptions): Promise<void> {
  const api = await openApi(options)
  const target = await findTarget(api, options)
  if (target.branch === null) throw new Refused('The branch is not known here: name it with --branch.')
  const commit = options.commit ?? (await ownCommit(options, target))
  const build = await api.post<Build>(`pipelines/${encodeURIComponent(target.pipeline)}/builds`, {
    branch: target.branch,
    commit,
    message: options.message ?? (commit === 'HEAD' ? null : target.message),
    ...commonBody(options),
  })
  const name = buildName(target.pipeline, build.number)
  if (options.watch) await watchAndExit({ ...options, api, ...name }, { created: build })
  else
    print(options, build, `Build #${build.number} of ${oneLine(target.pipeline)}: ${oneLine(build.web_url)}`)
}

/** The commit of the work tree, unless another branch is built. */
async function ownCommit(
  { branch }: CreateOptions,
  target: { branch: string | null; commit: string | null },
): Promise<string> {
  const here = await git(process.cwd(), 'symbolic-ref', '--short', '--quiet', 'HEAD')
  if (target.commit === null || (branch !== undefined && branch !== here)) return 'HEAD'
  await warnOfUnpushed(target.commit)
  return target.commit
}

/** Agents fetch the commit from the remote. */
async function warnOfUnpushed(commit: string): Promise<void> {
  const args = ['for-each-ref', '--count=1', '--format=%(refname)', '--contains', commit, 'refs/remotes']
  const known = await git(process.cwd(), ...args)
  if (known !== '') return
  console.error(
    `The commit ${commit.slice(0, 12)} is on no branch of a remote, so agents may not find it. ` +
      'Push it, or build the work tree as it is with --preflight.',
  )
}
