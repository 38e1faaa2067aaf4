BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0002');
CREATE TABLE clusters (
	name TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	version TEXT NOT NULL, 
	seen FLOAT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "clusters" VALUES('delft',16,'simulated',1.79529120389839076991e+09);
INSERT INTO "clusters" VALUES('leiden',8,'simulated',1.79529120390004801747e+09);
CREATE TABLE components (
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	component INTEGER NOT NULL, 
	cluster TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	reserves BOOLEAN NOT NULL, 
	seq INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	step TEXT NOT NULL, 
	reservation BOOLEAN NOT NULL, 
	started BOOLEAN NOT NULL, 
	native_id TEXT, 
	submit_time FLOAT, 
	hosts TEXT NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	cause TEXT, 
	detail TEXT NOT NULL, 
	PRIMARY KEY (job, attempt, component)
);
INSERT INTO "components" VALUES(1,1,0,'delft',2,0,1,'gone','',0,1,'1',1795291204.16534,'vm',1.79529120417475557321e+09,1.79529120417475557321e+09,0,NULL,'');
INSERT INTO "components" VALUES(2,1,0,'delft',2,0,2,'gone','',0,1,'2',1.79529120433527755737e+09,'vm',1.79529120433946609491e+09,1.79529120434275555606e+09,3,'exit','');
INSERT INTO "components" VALUES(3,1,0,'delft',4,1,3,'gone','',1,1,'3',1.79529120453761363031e+09,'vm',1.79529120465075564387e+09,1.79529120465075564387e+09,0,NULL,'');
INSERT INTO "components" VALUES(3,1,1,'leiden',4,1,3,'gone','',1,1,'1',1.79529120453796911232e+09,'vm',1.79529120465075564387e+09,1.79529120465075564387e+09,0,NULL,'');
INSERT INTO "components" VALUES(5,1,0,'delft',2,0,4,'gone','',0,1,'4',1.79529120506274271007e+09,'vm',1.79529120507075572012e+09,1.79529120507875561713e+09,0,NULL,'');
INSERT INTO "components" VALUES(6,1,0,'delft',2,0,5,'started','',0,1,'5',1.79529120524070596696e+09,'vm',1.79529120524675559998e+09,NULL,NULL,NULL,'RUNNING');
INSERT INTO "components" VALUES(7,1,0,'delft',4,1,6,'started','',1,1,'6',1.79529120541533756261e+09,'vm',1.79529120553075551992e+09,NULL,NULL,NULL,'');
INSERT INTO "components" VALUES(7,1,1,'leiden',4,1,6,'started','',1,1,'2',1.79529120541346144676e+09,'vm',1.79529120553075551992e+09,NULL,NULL,NULL,'');
INSERT INTO "components" VALUES(8,1,0,'delft',2,0,7,'started','',0,1,'7',1.79529120562164092068e+09,'vm',1.79529120563075566294e+09,NULL,NULL,NULL,'');
INSERT INTO "components" VALUES(9,1,0,'delft',1,0,8,'started','clean',0,1,'8',1.79529120579744195943e+09,'vm',1.79529120580275559429e+09,NULL,NULL,NULL,'');
CREATE TABLE events (
	id INTEGER NOT NULL, 
	time FLOAT NOT NULL, 
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	what TEXT NOT NULL, 
	detail JSON NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "events" VALUES(1,1.79529120415575909608e+09,1,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(2,1.79529120415575909608e+09,1,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(3,1.79529120415575909608e+09,1,1,'submitting','{}');
INSERT INTO "events" VALUES(4,1.79529120416733479494e+09,1,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "1"}');
INSERT INTO "events" VALUES(5,1.7952912041937975884e+09,1,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(6,1.7952912041937975884e+09,1,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(7,1.7952912041937975884e+09,1,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(8,1.79529120433002829554e+09,2,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(9,1.79529120433002829554e+09,2,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(10,1.79529120433002829554e+09,2,1,'submitting','{}');
INSERT INTO "events" VALUES(11,1.79529120433669471743e+09,2,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "2"}');
INSERT INTO "events" VALUES(12,1.79529120436733436588e+09,2,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(13,1.79529120436733436588e+09,2,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 3}');
INSERT INTO "events" VALUES(14,1.79529120436733436588e+09,2,1,'failed','{"why": "component 0 in delft: its script ended with exit code 3", "exit_code": 3}');
INSERT INTO "events" VALUES(15,1.7952912045208556652e+09,3,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(16,1.7952912045208556652e+09,3,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(17,1795291204.52477,3,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(18,1.79529120453172421449e+09,3,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(19,1.79529120453172421449e+09,3,1,'submitting','{}');
INSERT INTO "events" VALUES(20,1.79529120453974652292e+09,3,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "1"}');
INSERT INTO "events" VALUES(21,1.79529120454414415361e+09,3,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "3"}');
INSERT INTO "events" VALUES(22,1.79529120454414415361e+09,3,1,'waiting','{}');
INSERT INTO "events" VALUES(23,1.79529120456633543966e+09,3,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(24,1.79529120456765389443e+09,3,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(25,1.7952912046102719307e+09,3,1,'opened','{}');
INSERT INTO "events" VALUES(26,1.7952912046575331688e+09,3,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(27,1.7952912046575331688e+09,3,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(28,1.79529120465928578379e+09,3,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(29,1.79529120465928578379e+09,3,1,'ended','{"component": 1, "cluster": "leiden", "exit_code": 0}');
INSERT INTO "events" VALUES(30,1.79529120465928578379e+09,3,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(31,1.79529120488169217115e+09,4,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(32,1.79529120496194839482e+09,4,0,'cancel','{"by": "root"}');
INSERT INTO "events" VALUES(33,1.79529120496194839482e+09,4,0,'cancelled','{"why": "cancelled by root"}');
INSERT INTO "events" VALUES(34,1.79529120505723595617e+09,5,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(35,1.79529120505723595617e+09,5,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(36,1.79529120506080317495e+09,5,1,'files sent','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10}');
INSERT INTO "events" VALUES(37,1.79529120506080317495e+09,5,1,'submitting','{}');
INSERT INTO "events" VALUES(38,1.7952912050641105175e+09,5,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "4"}');
INSERT INTO "events" VALUES(39,1.79529120509414172172e+09,5,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(40,1.79529120509414172172e+09,5,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(41,1.79529120510112762446e+09,5,1,'results back','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10, "folder": "@FOLDER@/metabroker-5.0"}');
INSERT INTO "events" VALUES(42,1.79529120510112762446e+09,5,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(43,1.79529120523641133305e+09,6,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(44,1.79529120523641133305e+09,6,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(45,1.79529120523641133305e+09,6,1,'submitting','{}');
INSERT INTO "events" VALUES(46,1.7952912052422323227e+09,6,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "5"}');
INSERT INTO "events" VALUES(47,1.79529120527026891714e+09,6,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(48,1.7952912054062244892e+09,7,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(49,1.7952912054062244892e+09,7,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(50,1.79529120541107320785e+09,7,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(51,1.79529120541107320785e+09,7,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(52,1.79529120541107320785e+09,7,1,'submitting','{}');
INSERT INTO "events" VALUES(53,1.79529120541891646384e+09,7,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "2"}');
INSERT INTO "events" VALUES(54,1.79529120541891646384e+09,7,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "6"}');
INSERT INTO "events" VALUES(55,1.79529120541891646384e+09,7,1,'waiting','{}');
INSERT INTO "events" VALUES(56,1.79529120543204379076e+09,7,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(57,1.79529120544804334643e+09,7,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(58,1.79529120549490022653e+09,7,1,'opened','{}');
INSERT INTO "events" VALUES(59,1795291205.54358,7,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(60,1.7952912055551059246e+09,7,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(61,1.79529120561811661718e+09,8,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(62,1.79529120561811661718e+09,8,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(63,1.79529120561811661718e+09,8,1,'submitting','{}');
INSERT INTO "events" VALUES(64,1.79529120562756562239e+09,8,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "7"}');
INSERT INTO "events" VALUES(65,1.79529120565412306786e+09,8,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(66,1.79529120579309058188e+09,9,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(67,1.79529120579309058188e+09,9,1,'placed','{"clusters": ["delft"], "processors": [1]}');
INSERT INTO "events" VALUES(68,1.79529120579309058188e+09,9,1,'submitting','{}');
INSERT INTO "events" VALUES(69,1.79529120579893851274e+09,9,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "8"}');
INSERT INTO "events" VALUES(70,1.79529120581840109828e+09,9,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(71,1.79529120596632957461e+09,10,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(72,1.79529120606732892993e+09,11,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(73,1.79529120615541744237e+09,12,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(74,1.79529120625148439407e+09,13,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(75,1.79529120784096550946e+09,9,1,'cancel','{"by": "root"}');
CREATE TABLE facts (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "facts" VALUES('instance','ea82f4e1');
INSERT INTO "facts" VALUES('policy memory','{"clusters": ["delft", "leiden"], "memory": [12, [], []]}');
CREATE TABLE jobs (
	id INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	sizes JSON NOT NULL, 
	clusters JSON, 
	queue TEXT NOT NULL, 
	local TEXT, 
	home TEXT, 
	time_limit INTEGER NOT NULL, 
	submit_time FLOAT NOT NULL, 
	seq INTEGER NOT NULL, 
	queued_at FLOAT NOT NULL, 
	attempt INTEGER NOT NULL, 
	submission_failures INTEGER NOT NULL, 
	completion_failures INTEGER NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	deadline FLOAT, 
	goal TEXT, 
	"by" TEXT NOT NULL, stages_in BOOLEAN DEFAULT 0 NOT NULL, stages_out BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "jobs" VALUES(1,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79529120415575909608e+09,1,1.79529120415575909608e+09,1,0,0,1.79529120417475557321e+09,1.7952912041937975884e+09,0,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(2,'root','job.sh','FAILED','component 0 in delft: its script ended with exit code 3','[2]','null','',NULL,NULL,3600,1.79529120433002829554e+09,2,1.79529120433002829554e+09,1,0,1,1.79529120433946609491e+09,1.79529120436733436588e+09,3,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(3,'root','job.sh','COMPLETED','','[4, 4]','null','',NULL,NULL,3600,1.7952912045208556652e+09,3,1.7952912045208556652e+09,1,0,0,1.7952912046102719307e+09,1.79529120465928578379e+09,0,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(4,'root','job.sh','CANCELLED','cancelled by root','[1]','null','',NULL,NULL,3600,1.79529120488169217115e+09,0,0.0,0,0,0,NULL,1.79529120496194839482e+09,NULL,NULL,NULL,'root',0,0);
INSERT INTO "jobs" VALUES(5,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79529120505723595617e+09,4,1.79529120505723595617e+09,1,0,0,1.79529120507075572012e+09,1.79529120510112762446e+09,0,NULL,NULL,'',1,1);
INSERT INTO "jobs" VALUES(6,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79529120523641133305e+09,5,1.79529120523641133305e+09,1,0,0,1.79529120524675559998e+09,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(7,'root','job.sh','RUNNING','','[4, 4]','null','',NULL,NULL,3600,1.7952912054062244892e+09,6,1.7952912054062244892e+09,1,0,0,1.79529120549490022653e+09,NULL,NULL,1.79529483549490022657e+09,NULL,'',0,0);
INSERT INTO "jobs" VALUES(8,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79529120561811661718e+09,7,1.79529120561811661718e+09,1,0,0,1.79529120563075566294e+09,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(9,'root','job.sh','RUNNING','cancelled by root; waits until its clusters have ended it','[1]','null','',NULL,NULL,3600,1.79529120579309058188e+09,8,1.79529120579309058188e+09,1,0,0,1.79529120580275559429e+09,NULL,NULL,NULL,'cancel','root',0,0);
INSERT INTO "jobs" VALUES(10,'root','job.sh','QUEUED','','[16]','null','',NULL,NULL,3600,1.79529120596632957461e+09,9,1.79529120596632957461e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(11,'root','job.sh','QUEUED','','[8, 8]','null','',NULL,NULL,3600,1.79529120606732892993e+09,10,1.79529120606732892993e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(12,'root','job.sh','QUEUED','','[8]','["leiden"]','','leiden',NULL,3600,1.79529120615541744237e+09,11,1.79529120615541744237e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(13,'root','job.sh','HELD','held by root at submission','[2]','null','',NULL,NULL,3600,1.79529120625148439407e+09,0,0.0,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0);
CREATE TABLE scripts (
	job INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	request_id TEXT, 
	secret TEXT NOT NULL, 
	script BLOB NOT NULL, 
	spec JSON NOT NULL, 
	PRIMARY KEY (job), 
	UNIQUE (user, request_id)
);
INSERT INTO "scripts" VALUES(1,'root','bdd2e802-0797-40c7-917d-27cd77b454dd','46316e98495f591830dbc6d2',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null}');
INSERT INTO "scripts" VALUES(2,'root','c98a395c-f15b-4a9c-8db6-8a75493fed21','bc92a73698a3815107b972d4',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["3", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null}');
INSERT INTO "scripts" VALUES(3,'root','1218b726-c47b-4ff4-9713-6168320db833','929899063902eab7c5eb4d5a',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null}');
INSERT INTO "scripts" VALUES(4,'root','dc6cf91a-d551-4d3e-8e97-928f1b7b4ac5','a943abfba7470687041354ba',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null}');
INSERT INTO "scripts" VALUES(5,'root','64b8a23e-ea91-45e4-843e-83b51e20078d','caeb25251c33bc6c9e069739',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": ["input"], "stage_out": ["*"], "submit_dir": "@FOLDER@"}');
INSERT INTO "scripts" VALUES(6,'root','04bd39e5-8f88-4bb6-91d7-659f0e52b1e8','ea0cbcb1317946bae4e76b79',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null}');
INSERT INTO "scripts" VALUES(7,'root','194f289c-a651-4771-9cd9-d4e741602928','b9fd2c2322c91a1a9b793bf1',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null}');
INSERT INTO "scripts" VALUES(8,'root','once','b973d219c690d61d7eb392ea',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null}');
INSERT INTO "scripts" VALUES(9,'root','cc105294-5d57-483b-99a8-7256ccac2642','833dc2fff6647b3dad355e3d',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null}');
INSERT INTO "scripts" VALUES(10,'root','eb265cb5-e1f4-49f8-8525-12ba82b2e829','963af9600778fd22313a53e8',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null}');
INSERT INTO "scripts" VALUES(11,'root','f51bc8eb-0dc2-4d4f-af1a-53a0e3a637c7','e2e4fa22a216bd696cfbcb3f',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null}');
INSERT INTO "scripts" VALUES(12,'root','9d8b16d7-6f4e-49d9-8191-5985a4d8a860','157823c4084c4d4c44ff993f',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null}');
INSERT INTO "scripts" VALUES(13,'root','d6b92fce-52b5-41dd-98c7-6b29a26361ec','c90e2de720c35ee1c602d676',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null}');
CREATE INDEX components_by_phase ON components (phase);
CREATE INDEX components_by_seq ON components (seq);
CREATE INDEX events_by_job ON events (job);
CREATE INDEX jobs_by_end ON jobs (end_time);
CREATE INDEX jobs_by_state ON jobs (state);
COMMIT;
