// The entry point of the server. Loaded on demand, so that help and usage errors are fast.
export type { Started } from '@millrace/server/main.ts'

export const loadProgram = () => import('@millrace/server/main.ts')
