import type { Caller } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import type { Answer } from '../../../http/answer.ts'
import { decodePosition, encodePosition } from '../../../http/cursors.ts'
import { linkHeader, withQuery, type RequestUrl } from '../../../http/links.ts'
import { pageLinks, readPage } from '../../../http/paging.ts'
import { badRequest } from '../../../lib/errors.ts'
import { narrow } from './narrow.ts'
import { listIds, type Range } from './listed-builds.ts'
import { presentPage, type ShowingOrganization } from './present.ts'
import { isNarrowed, readFilter } from './rules.ts'
import type { ListQuery } from './schema.ts'

interface BuildList {
  /** Names the list and its owner; a cursor of another list is invalid here. */
  name: string
  orgs: readonly ShowingOrganization[]
  /** The ranges of them that the caller may see, for a page that ends at this row. */
  ranges(reach: number): Promise<readonly Range[]>
}

const tooDeep =
  'Listing builds this deep is not supported. ' +
  'Please narrow your query using filters such as branch or created_from.'

/** Pages by number up to a limit, and by cursor without one. */
export async function listBuilds(
  ctx: Context,
  caller: Caller,
  list: BuildList,
  query: ListQuery,
  url: RequestUrl,
): Promise<Answer> {
  const filter = readFilter(query)
  const page = readPage(url)
  const after = query.after === undefined ? null : decodePosition(query.after, list.name, ctx.keys)
  if (after === null && page.offset >= ctx.config.deepestListing && !isNarrowed(filter)) {
    throw badRequest(tooDeep)
  }
  const window = { limit: page.limit, offset: after === null ? page.offset : 0, after }
  const ranges = await list.ranges(window.offset + window.limit)
  const listed = await listIds(ctx.db, ranges, await narrow(ctx.db, ranges, filter), window)
  const shown = listed.slice(0, page.perPage)
  const hasNext = listed.length > shown.length
  const last = shown.at(-1)
  const cursor = last && encodePosition({ at: last.created_at, id: last.id }, list.name, ctx.keys)
  const links = after === null ? pageLinks(page, hasNext) : {}
  if (hasNext) {
    links['next-cursor'] = withQuery(url, { after: cursor, page: undefined, per_page: page.perPage })
  }
  const written = await presentPage(ctx, list.orgs, caller, shown, {
    jobs: query.exclude_jobs
      ? null
      : {
          includeRetried: query.include_retried_jobs ?? false,
          includePaused: filter.includePaused,
          states: null,
        },
    pipeline: !query.exclude_pipeline,
  })
  return { status: 200, headers: linkHeader(links), ...written }
}
