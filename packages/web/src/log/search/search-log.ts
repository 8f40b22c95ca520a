import type { JobAddress } from '../../api/addresses.ts'
import { call } from '../../api/call.ts'
import type { Match, Query } from './search.ts'
import { logPath } from '../model/source.ts'

export async function searchLog(
  address: JobAddress,
  { text, isRegex, isCaseSensitive }: Query,
  signal: AbortSignal,
): Promise<{ total: number; isComplete: boolean; searchedRows: number; list: Match[] }> {
  const answer = await call(`GET ${logPath}/search`, {
    params: address,
    query: { q: text, regex: isRegex, case: isCaseSensitive },
    signal,
  })
  return {
    total: answer.total,
    isComplete: answer.is_complete,
    searchedRows: answer.searched_rows,
    list: answer.matches as unknown as Match[],
  }
}
