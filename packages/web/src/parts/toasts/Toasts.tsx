import { showLabel } from '../labels.ts'
import { useSyncExternalStore } from 'react'
import { Button, IconButton } from '../Button.tsx'
import { hideToast, toastStore } from './toasts.ts'
import styles from './Toasts.module.css'

export function Toasts() {
  const toasts = useSyncExternalStore(toastStore.subscribe, toastStore.read)
  return (
    <div className={styles.toasts} role="status" aria-live="polite" data-part="toasts">
      {toasts.map(({ id, text, tone, undo }) => (
        <div key={id} className={`card ${styles.toast} ${styles[tone]}`}>
          <span>{showLabel(text)}</span>
          {undo !== null && (
            <Button
              kind="quiet"
              icon="undo-2"
              onClick={() => {
                hideToast(id)
                undo()
              }}
            >
              Undo
            </Button>
          )}
          <IconButton label="Close this message" icon="x" onClick={() => hideToast(id)} />
        </div>
      ))}
    </div>
  )
}
