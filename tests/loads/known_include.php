<?php
function included() { burn(1 / 2); }
burn(1 / 2);
included();
