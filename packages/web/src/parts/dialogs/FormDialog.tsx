import { useId, type ReactNode } from 'react'
import { Button } from '../Button.tsx'
import { Form } from '../Field.tsx'
import type { IconName } from '../icon-names.ts'
import { Dialog } from './Dialog.tsx'

interface Props {
  title: string
  size?: 'small' | 'wide'
  children: ReactNode
  /** The verb: "Create build". */
  action: string
  icon?: IconName
  /** It cannot be undone. */
  isDanger?: boolean
  isBusy?: boolean
  /** Why it cannot be submitted. */
  disabledReason?: string | undefined
  onSubmit: () => void
  onClose: () => void
}

export function FormDialog({
  action,
  icon,
  isDanger = false,
  isBusy = false,
  disabledReason,
  onSubmit,
  children,
  ...rest
}: Props) {
  const formId = useId()
  return (
    <Dialog
      {...rest}
      isOpen
      actions={
        <>
          <Button onClick={rest.onClose}>Cancel</Button>
          <Button
            kind={isDanger ? 'danger' : 'primary'}
            isWrite
            type="submit"
            form={formId}
            {...(icon === undefined ? {} : { icon })}
            isBusy={isBusy}
            disabled={isBusy || disabledReason !== undefined}
            title={disabledReason}
          >
            {action}
          </Button>
        </>
      }
    >
      <Form id={formId} onSubmit={onSubmit}>
        {children}
      </Form>
    </Dialog>
  )
}
