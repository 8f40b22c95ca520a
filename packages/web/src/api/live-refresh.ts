// Fetches lists again when a change cannot be written into them. Rows must not move under the pointer, so a list that is
// pointed at waits until the pointer has left. Such lists carry `data-frozen-on-hover`.
import { queryClient } from './queries.ts'

const betweenMs = 1000
const waiting = new Map<string, (name: unknown) => boolean>()
let timer: ReturnType<typeof setTimeout> | undefined

/** `reason` names the refresh: of several with one name, one is carried out. */
export function refreshSoon(reason: string, matches: (name: unknown) => boolean): void {
  waiting.set(reason, matches)
  timer ??= setTimeout(refresh, betweenMs)
}

function refresh(): void {
  timer = undefined
  if (document.querySelector('[data-frozen-on-hover]:hover') !== null) {
    timer = setTimeout(refresh, betweenMs)
    return
  }
  const all = [...waiting.values()]
  waiting.clear()
  void queryClient.invalidateQueries({
    predicate: ({ queryKey }) => all.some((matches) => matches(queryKey[0])),
  })
}
