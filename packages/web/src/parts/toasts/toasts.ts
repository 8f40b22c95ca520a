// Short messages after an action. They are announced, and leave by themselves.
import { Listeners } from '../../api/listeners.ts'

interface Toast {
  id: number
  text: string
  tone: 'plain' | 'failed'
  undo: (() => void) | null
}

const shownMs = 8000
let toasts: readonly Toast[] = []
let last = 0
const listeners = new Listeners()

function change(next: readonly Toast[]): void {
  toasts = next
  listeners.call()
}

/** `undo` offers to take the action back while the toast is shown. */
export function showToast(text: string, options: { tone?: Toast['tone']; undo?: () => void } = {}): void {
  const toast = { id: ++last, text, tone: options.tone ?? 'plain', undo: options.undo ?? null }
  change([...toasts.slice(-2), toast])
  setTimeout(() => hideToast(toast.id), shownMs)
}

export const showFailure = (error: unknown): void =>
  showToast(error instanceof Error ? error.message : String(error), { tone: 'failed' })

export const hideToast = (id: number): void => change(toasts.filter((toast) => toast.id !== id))

export const toastStore = { subscribe: listeners.add, read: () => toasts }
