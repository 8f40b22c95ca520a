import { useMutation } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from '../Button.tsx'
import { ConfirmDialog } from '../dialogs/ConfirmDialog.tsx'
import { Form } from '../Field.tsx'
import { showToast } from '../toasts/toasts.ts'
import type { Draft } from './use-draft.ts'
import styles from './SettingsForm.module.css'

interface Props<Fields> {
  draft: Draft<Fields>
  /** Stores what was changed, and loads it anew. */
  onSave: (changed: Partial<Fields>) => Promise<unknown>
  /** Why it cannot be saved as it is. */
  problem?: string | undefined
  /** As wide as the page, for an editor. */
  isWide?: boolean
  children: ReactNode
}

/** One form of settings. A bar to save appears with the first change, and leaving asks while it is there. */
export function SettingsForm<Fields extends object>({
  draft,
  onSave,
  problem,
  isWide = false,
  children,
}: Props<Fields>) {
  const save = useMutation({
    mutationFn: () => onSave(draft.changed),
    onSuccess() {
      draft.discard()
      showToast('Saved.')
    },
  })
  const discard = () => {
    draft.discard()
    save.reset()
  }
  const { isChanged } = draft
  const submit = () => {
    if (isChanged && problem === undefined) save.mutate()
  }
  return (
    <div className={isWide ? undefined : styles.form}>
      <Form onSubmit={submit}>
        {children}
        {isChanged && (
          <div className={`card ${styles.bar}`} role="group" aria-label="Changes">
            <p role="status" className={styles.said}>
              {problem ?? 'Not saved yet.'}
            </p>
            {save.error !== null && (
              <p role="alert" className={styles.refused}>
                {save.error.message}
              </p>
            )}
            <span className={styles.buttons}>
              <Button onClick={discard}>Discard</Button>
              <Button
                kind="primary"
                type="submit"
                isBusy={save.isPending}
                disabled={save.isPending || problem !== undefined}
              >
                Save
              </Button>
            </span>
          </div>
        )}
      </Form>
      <LeaveGuard isChanged={isChanged && !save.isPending} />
    </div>
  )
}

function LeaveGuard({ isChanged }: { isChanged: boolean }) {
  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: () => isChanged,
    withResolver: true,
  })
  if (leaving.status !== 'blocked') return null
  return (
    <ConfirmDialog
      title="Leave without saving?"
      action="Leave"
      keep="Stay here"
      onConfirm={leaving.proceed}
      onClose={leaving.reset}
    >
      <p>What you have changed on this page is lost.</p>
    </ConfirmDialog>
  )
}
