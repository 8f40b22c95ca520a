// The server's door. Loaded when a command needs it, so that help and mistakes in usage answer at once.
import type { Audience, Started } from '@millrace/server/main.ts'

export type { Audience, Started }

export const loadProgram = () => import('@millrace/server/main.ts')
