const adjectives =
  `amber brave brisk calm clever cosmic crisp daring deft eager early fair fleet fluent fond free gentle
giddy glad golden grand happy hardy hazel humble ivory jolly keen kind lively loyal lucid lunar mellow merry mighty
misty modest neat nimble noble patient plucky polite proud quick quiet rapid ready rosy royal sage sandy serene sharp
silent silver sleek smooth snowy solar spry steady sturdy sunny swift tidy tranquil vivid warm wise witty zesty`.split(
    /\s+/,
  );

const animals = `badger beaver bison bobcat condor cougar coyote crane curlew dingo dolphin dove eagle egret elk falcon
ferret finch fox gazelle gecko gibbon gopher grouse heron hornet ibex ibis iguana jackal jaguar kestrel kiwi koala lark
lemur leopard linnet llama lynx magpie marmot marten martin mole moose newt ocelot orca osprey otter owl panda panther
pelican petrel plover puffin quail rabbit raven robin salmon seal shrike skylark sparrow squirrel starling stoat stork
swan tapir tern thrush tiger toucan turtle vole walrus weasel whale wombat wren yak zebra`.split(/\s+/);

/** Number of adjective-animal aliases before numbers are appended. */
export const plainAliases = adjectives.length * animals.length;

/** Picks a free adjective-animal alias. `random` returns numbers in [0, 1). */
export function chooseAlias(taken: ReadonlySet<string>, random: () => number): string {
  const start = Math.floor(random() * plainAliases);
  for (let round = 1; ; round++) {
    for (let step = 0; step < plainAliases; step++) {
      const pick = (start + step * stride) % plainAliases;
      const plain = `${adjectives[pick % adjectives.length]}-${animals[Math.floor(pick / adjectives.length)]}`;
      const alias = round === 1 ? plain : `${plain}-${round}`;
      if (!taken.has(alias)) return alias;
    }
  }
}

/** Coprime with the number of aliases, so stepping by it visits each one once and neighbours look different. */
const stride = 7919;
