// Verbs that change a build.
import type { Build } from '@millrace/server/wire.ts'
import { print } from '../../command.ts'
import { Refused } from '../../refused.ts'
import { openBrowser } from '../browser.ts'
import { oneLine } from '../text.ts'
import { buildName, findBuild, type BuildOptions } from '../find-build.ts'
import { watchAndExit } from './watch.ts'

export async function cancelBuild(
  text: string | undefined,
  options: BuildOptions & { reason?: string },
): Promise<void> {
  const { api, path } = await findBuild(text, options)
  const { reason } = options
  const build = await api.put<Build>(`${path}/cancel`, reason === undefined ? {} : { reason })
  const done = build.state === 'canceled' ? 'is canceled' : 'is being canceled'
  print(options, build, `Build #${build.number} ${done}.`)
}

export interface WatchableOptions extends BuildOptions {
  watch?: true
}

export async function rebuild(text: string | undefined, options: WatchableOptions): Promise<void> {
  const { api, path, pipeline } = await findBuild(text, options)
  const build = await api.put<Build>(`${path}/rebuild`, {})
  if (options.watch) {
    await watchAndExit({ ...options, api, ...buildName(pipeline, build.number) }, { created: build })
    return
  }
  print(options, build, `Build #${build.number} builds the same again: ${oneLine(build.web_url)}`)
}

export async function retryBuild(
  text: string | undefined,
  options: WatchableOptions & { states?: string },
): Promise<void> {
  const { api, path, pipeline, name } = await findBuild(text, options)
  const { states } = options
  const build = await api.put<Build>(`${path}/retry_failed_jobs`, states === undefined ? {} : { states })
  const count = build.retried_jobs_count ?? 0
  if (count === 0) {
    throw new Refused(
      `Build #${build.number} has no failed jobs that can be retried. Build everything again with millrace build rebuild ${name}.`,
    )
  }
  if (options.watch) await watchAndExit({ ...options, api, path, pipeline, name })
  else
    print(
      options,
      build,
      `${count === 1 ? '1 job is' : `${count} jobs are`} tried again in build #${build.number}.`,
    )
}

export async function openBuild(text: string | undefined, options: BuildOptions): Promise<void> {
  const { api, path, job } = await findBuild(text, options)
  const build = await api.get<Build>(`${path}?exclude_jobs=true&exclude_pipeline=true`)
  const url = oneLine(`${build.web_url}${job === null ? '' : `#${job}`}`)
  if (!/^https?:\/\//.test(url)) throw new Refused(`The server names no page of this build: ${url}`)
  if (!options.json) await openBrowser(url)
  print(options, { url }, url)
}
