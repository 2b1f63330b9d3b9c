import { describe, expect, it } from 'vitest';
import { expectRefusal } from './bad-input.ts';
import { TodoError, todo } from './todo.ts';

const refuse = () => {
  throw new RangeError('replicas must be 1 or more, got 0');
};

/** What the assertion threw, or rejected with. */
async function outcomeOf(assertion: () => unknown): Promise<unknown> {
  try {
    await assertion();
  } catch (error) {
    return error;
  }
  return 'satisfied';
}

describe('expectRefusal', () => {
  it('is satisfied by a RangeError that names the field, thrown or rejected', async () => {
    expect(await outcomeOf(() => expectRefusal(refuse, 'replicas'))).toBe('satisfied');
    expect(await outcomeOf(() => expectRefusal(async () => refuse(), 'replicas'))).toBe(
      'satisfied',
    );
  });

  it.for([
    {
      title: 'a call that returns',
      call: () => 42,
      says: 'must be refused with a RangeError whose message names "replicas", but the call returned 42',
    },
    {
      title: 'a promise that is fulfilled',
      call: async () => ({ a: 1 }),
      says: 'but the call returned {"a":1}',
    },
    {
      title: 'an error of another class',
      call: () => {
        throw new TypeError('replicas');
      },
      says: 'bad input must be refused with a RangeError',
    },
    {
      title: 'a message without the field',
      call: async () => {
        throw new RangeError('that will not do');
      },
      says: 'the message must name what was wrong',
    },
  ])('fails on $title', async ({ call, says }) => {
    const error = await outcomeOf(() => expectRefusal(call, 'replicas'));
    expect((error as Error).message).toContain(says);
  });

  it('takes another class', async () => {
    const call = () => {
      throw new TypeError('replicas must be a number');
    };
    expect(await outcomeOf(() => expectRefusal(call, 'replicas', TypeError))).toBe('satisfied');
  });

  it('lets a TodoError through, thrown or rejected', async () => {
    const sync = await outcomeOf(() => expectRefusal(() => todo('1.1 x'), 'replicas'));
    const async_ = await outcomeOf(() => expectRefusal(async () => todo('1.1 x'), 'replicas'));
    expect(sync).toBeInstanceOf(TodoError);
    expect(async_).toBeInstanceOf(TodoError);
    // Not even an expectation of errors in general is met by it.
    const general = await outcomeOf(() => expectRefusal(() => todo('1.1 x'), 'TODO', Error));
    expect(general).toBeInstanceOf(TodoError);
  });
});
