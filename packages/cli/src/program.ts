// The entry point of the server. Loaded on demand, so that help and usage errors are fast.
import type { Audience, Started } from '@millrace/server/main.ts'

export type { Audience, Started }

export const loadProgram = () => import('@millrace/server/main.ts')
