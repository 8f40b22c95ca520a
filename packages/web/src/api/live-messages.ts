// What tabs of one organization tell each other.
import type { ServerEvent } from './event-stream.ts'
import type { Watched } from './live-wants.ts'

export type LiveMessage =
  | { type: 'want'; tab: string; isVisible: boolean; builds: readonly Watched[] }
  | { type: 'leave'; tab: string }
  | { type: 'who' }
  | { type: 'event'; event: ServerEvent; watching: readonly string[] }
  | { type: 'reset'; build: string | null }
  | { type: 'reachable'; isReachable: boolean }
