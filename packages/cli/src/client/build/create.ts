import type { Build } from '@millrace/server/wire.ts'
import { print } from '../../command.ts'
import { git } from '../../run/checkout.ts'
import { Refused } from '../../refused.ts'
import { openApi } from '../api.ts'
import { findPlace } from '../find-target.ts'
import { oneLine } from '../text.ts'
import { commonBody, type CreateOptions } from './create-request.ts'
import { buildName } from '../find-build.ts'
import { watchAndExit } from './watch.ts'

export async function createBuild(options: CreateOptions): Promise<void> {
  const api = await openApi(options)
  const place = await findPlace(api, options)
  if (place.branch === null) throw new Refused('The branch is not known here: name it with --branch.')
  const commit = options.commit ?? (await ownCommit(options, place))
  const build = await api.post<Build>(`pipelines/${encodeURIComponent(place.pipeline)}/builds`, {
    branch: place.branch,
    commit,
    message: options.message ?? (commit === 'HEAD' ? null : place.message),
    ...commonBody(options),
  })
  const name = buildName(place.pipeline, build.number)
  if (options.watch) await watchAndExit({ ...options, api, ...name }, { created: build })
  else
    print(options, build, `Build #${build.number} of ${oneLine(place.pipeline)}: ${oneLine(build.web_url)}`)
}

/** The commit of the work tree, unless another branch is built. */
async function ownCommit(
  { branch }: CreateOptions,
  place: { branch: string | null; commit: string | null },
): Promise<string> {
  const here = await git(process.cwd(), 'symbolic-ref', '--short', '--quiet', 'HEAD')
  if (place.commit === null || (branch !== undefined && branch !== here)) return 'HEAD'
  await warnOfUnpushed(place.commit)
  return place.commit
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
